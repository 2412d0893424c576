package service

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAPresignedURLIsNotToldByTheDoctor has a store quote it, as S3 does where
// the signature is wrong.
func TestAPresignedURLIsNotToldByTheDoctor(t *testing.T) {
	for name, tc := range map[string]struct{ says, want string }{
		"S3": {
			`<?xml version="1.0" encoding="UTF-8"?><Error><Code>SignatureDoesNotMatch</Code><Message>m</Message><CanonicalRequest>PUT /b/k X-Amz-Signature=abc</CanonicalRequest></Error>`,
			"403 Forbidden SignatureDoesNotMatch",
		},
		"a gateway": {`<!DOCTYPE html><html><p>X-Amz-Signature=abc`, "403 Forbidden"},
		"nothing":   {"", "403 Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, tc.says)
			}))
			defer store.Close()
			if err := put(t.Context(), store.URL+"/b/k?X-Amz-Signature=abc", scratch); err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
