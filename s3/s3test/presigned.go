package s3test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hasura-storage/s3"
)

var presigned = map[string]promise{
	"a client uploads with the URL alone": func(t *testing.T, b bench) {
		link := b.signPut(t, key(t, "a"), s3.UploadTerms{Size: 5})
		wantEqual(t, "status", send(t, http.MethodPut, link, "hello", nil), http.StatusOK)
		b.holds(t, key(t, "a"), []byte("hello"))
	},
	"the client's Content-Type is its own affair, and the bytes stay as sent": func(t *testing.T, b bench) {
		form := "--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nhello\r\n--x--\r\n"
		for _, contentType := range []string{"image/png; charset=utf-8", "application/octet-stream", "multipart/form-data; boundary=x"} {
			for _, body := range []string{"hello", form} {
				link := b.signPut(t, key(t, "a"), s3.UploadTerms{Size: int64(len(body))})
				status := send(t, http.MethodPut, link, body, http.Header{"Content-Type": {contentType}})
				wantEqual(t, contentType, status, http.StatusOK)
				b.holds(t, key(t, "a"), []byte(body))
			}
		}
	},
	"a body of another length is refused": func(t *testing.T, b bench) {
		for _, body := range []string{"", "hell", "hello!"} {
			link := b.signPut(t, key(t, "a"), s3.UploadTerms{Size: 5})
			wantEqual(t, body, send(t, http.MethodPut, link, body, nil), http.StatusForbidden)
		}
		b.absent(t, key(t, "a"))
	},
	"an empty body can be promised": func(t *testing.T, b bench) {
		link := b.signPut(t, key(t, "a"), s3.UploadTerms{})
		wantEqual(t, "status", send(t, http.MethodPut, link, "", nil), http.StatusOK)
		b.holds(t, key(t, "a"), nil)
	},
	"a promised SHA-256 is enforced and known afterwards": checksum,
	"a URL is good for one method and key": func(t *testing.T, b bench) {
		link := b.signPut(t, key(t, "a"), s3.UploadTerms{Size: 5})
		wantEqual(t, "GET", send(t, http.MethodGet, link, "", nil), http.StatusForbidden)
		wantEqual(t, "DELETE", send(t, http.MethodDelete, link, "", nil), http.StatusForbidden)
		link.URL = strings.Replace(link.URL, "/a?", "/b?", 1)
		wantEqual(t, "other key", send(t, http.MethodPut, link, "hello", nil), http.StatusForbidden)
	},
	"a URL ends when it says": func(t *testing.T, b bench) {
		b.put(t, key(t, "a"), []byte("x"))
		link, err := b.PresignGet(b.ctx, key(t, "a"), time.Second, s3.ResponseHeaders{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2100 * time.Millisecond)
		wantEqual(t, "status", send(t, http.MethodGet, s3.Presigned{URL: link}, "", nil), http.StatusForbidden)
	},
	"a download has the headers that were signed": download,
	"a part is uploaded by its own URL": func(t *testing.T, b bench) {
		id := b.begin(t, key(t, "a"))
		link, err := b.PresignPart(b.ctx, key(t, "a"), id, 2, time.Minute, 5)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "longer", send(t, http.MethodPut, link, "hello!", nil), http.StatusForbidden)
		other := s3.Presigned{URL: strings.Replace(link.URL, "partNumber=2", "partNumber=3", 1)}
		wantEqual(t, "other part", send(t, http.MethodPut, other, "hello", nil), http.StatusForbidden)
		wantEqual(t, "status", send(t, http.MethodPut, link, "hello", nil), http.StatusOK)
		parts, err := b.ListParts(b.ctx, key(t, "a"), id)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "parts", len(parts), 1)
		wantEqual(t, "number", parts[0].Number, 2)
		wantEqual(t, "size", parts[0].Size, 5)
	},
}

func checksum(t *testing.T, b bench) {
	sum := sha256.Sum256([]byte("hello"))
	link := b.signPut(t, key(t, "a"), s3.UploadTerms{Size: 5, SHA256: hex.EncodeToString(sum[:])})
	wantEqual(t, "headers to send", len(link.Headers), 1)
	wantEqual(t, "other bytes", send(t, http.MethodPut, link, "HELLO", nil), http.StatusBadRequest)
	bare := s3.Presigned{URL: link.URL}
	wantEqual(t, "header left out", send(t, http.MethodPut, bare, "hello", nil), http.StatusForbidden)
	b.absent(t, key(t, "a"))
	wantEqual(t, "status", send(t, http.MethodPut, link, "hello", nil), http.StatusOK)
	stat, err := b.Stat(b.ctx, key(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if stat.SHA256 != "" { // a store need not remember it
		wantEqual(t, "SHA-256", stat.SHA256, hex.EncodeToString(sum[:]))
	}
}

func download(t *testing.T, b bench) {
	b.put(t, key(t, "a"), []byte("hello"))
	want := s3.ResponseHeaders{
		ContentType: "image/png", ContentDisposition: `attachment; filename="a (1).png"`, CacheControl: "private, max-age=60",
	}
	link, err := b.PresignGet(b.ctx, key(t, "a"), time.Minute, want)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	wantEqual(t, "body", string(body), "hello")
	h := answer.Header
	got := s3.ResponseHeaders{ContentType: h.Get("Content-Type"), ContentDisposition: h.Get("Content-Disposition"), CacheControl: h.Get("Cache-Control")}
	wantEqual(t, "headers", got, want)
	tampered := s3.Presigned{URL: strings.Replace(link, "image%2Fpng", "text%2Fhtml", 1)}
	wantEqual(t, "other type", send(t, http.MethodGet, tampered, "", nil), http.StatusForbidden)
}

func (b bench) signPut(t *testing.T, key string, terms s3.UploadTerms) s3.Presigned {
	t.Helper()
	link, err := b.PresignPut(b.ctx, key, time.Minute, terms)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// send does what a client would and returns the status.
func send(t *testing.T, method string, link s3.Presigned, body string, h http.Header) int {
	t.Helper()
	request, err := http.NewRequest(method, link.URL, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range h {
		request.Header[name] = values
	}
	for _, header := range link.Headers {
		request.Header.Set(header.Name, header.Value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}
