package service

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Health asks the service that runs on this machine with the same BIND whether
// it answers, within three seconds: images without a shell have nothing else to
// ask with.
func Health(ctx context.Context, getenv func(string) string) error {
	host, port, err := net.SplitHostPort(settingOf("BIND").value(getenv))
	if err != nil {
		return fmt.Errorf("BIND must be host:port: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return fmt.Errorf("BIND: %w", err)
	}
	direct := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // past any proxy
	answer, err := direct.Do(r)
	if err != nil {
		return fmt.Errorf("the service does not answer: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the service answers %s", answer.Status)
	}
	return nil
}
