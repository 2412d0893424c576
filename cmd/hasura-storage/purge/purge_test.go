package purge_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"hasura-storage/cmd/hasura-storage/purge"
)

// cache answers with status and writes down what it was told.
func cache(t *testing.T, status int) (*httptest.Server, *[]string) {
	t.Helper()
	var told []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told = append(told, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Surrogate-Key"), body)))
		if r.Header.Get("Fastly-Key") == "wrong" {
			status = http.StatusUnauthorized
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s, &told
}

func TestCachesAreTold(t *testing.T) {
	tests := map[string]struct {
		options func(url string) purge.Options
		status  int
		told    []string
		fails   string
	}{
		"Fastly, by surrogate keys": {
			func(u string) purge.Options {
				return purge.Options{FastlyService: "svc", FastlyKey: "key", FastlyURL: u}
			},
			200, []string{"POST /service/svc/purge a b"}, "",
		},
		"a webhook, all at once": {
			func(u string) purge.Options { return purge.Options{Webhook: u + "/hook"} },
			204, []string{`POST /hook  {"ids":["a","b"]}`}, "",
		},
		"a webhook for each file": {
			func(u string) purge.Options { return purge.Options{Webhook: u + "/purge/v1/files/{id}"} },
			200, []string{"POST /purge/v1/files/a", "POST /purge/v1/files/b"}, "",
		},
		"a cache that does not know the file": {
			func(u string) purge.Options { return purge.Options{Webhook: u + "/purge/{id}"} },
			404, []string{"POST /purge/a", "POST /purge/b"}, "",
		},
		"a cache that fails is told again later": {
			func(u string) purge.Options { return purge.Options{Webhook: u + "/secret-path"} },
			500, []string{`POST /secret-path  {"ids":["a","b"]}`}, "answered 500",
		},
		"a key that Fastly refuses": {
			func(u string) purge.Options {
				return purge.Options{FastlyService: "svc", FastlyKey: "wrong", FastlyURL: u}
			},
			200, []string{"POST /service/svc/purge a b"}, "answered 401",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, told := cache(t, test.status)
			tell, err := purge.New(test.options(s.URL))
			if err != nil {
				t.Fatal(err)
			}
			err = tell(t.Context(), []string{"a", "b"})
			if (err == nil) != (test.fails == "") || err != nil && (!strings.Contains(err.Error(), test.fails) || strings.Contains(err.Error(), "secret-path")) {
				t.Errorf("error is %v, want %q", err, test.fails)
			}
			if !slices.Equal(*told, test.told) {
				t.Errorf("told %q, want %q", *told, test.told)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]purge.Options{
		"half of Fastly":     {FastlyService: "svc"},
		"no URL":             {Webhook: "cache/{id}"},
		"not by HTTP either": {Webhook: "file:///etc/{id}"},
	} {
		if _, err := purge.New(o); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if tell, err := purge.New(purge.Options{}); tell != nil || err != nil {
		t.Errorf("with nobody to tell: %v", err)
	}
}
