package s3test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"hasura-storage/s3"
)

var presigned = map[string]promise{
	"a client uploads with the URL alone": func(b bench) {
		link := b.signPut(b.key("a"), s3.UploadTerms{Size: 5})
		wantEqual(b, "status", b.send(http.MethodPut, link, "hello", nil), http.StatusOK)
		b.holds(b.key("a"), []byte("hello"))
	},
	"the client's Content-Type is its own affair, and the bytes stay as sent": func(b bench) {
		form := "--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nhello\r\n--x--\r\n"
		for _, contentType := range []string{"image/png; charset=utf-8", "application/octet-stream", "multipart/form-data; boundary=x"} {
			for _, body := range []string{"hello", form} {
				link := b.signPut(b.key("a"), s3.UploadTerms{Size: int64(len(body))})
				status := b.send(http.MethodPut, link, body, http.Header{"Content-Type": {contentType}})
				wantEqual(b, contentType, status, http.StatusOK)
				b.holds(b.key("a"), []byte(body))
			}
		}
	},
	"a body of another length is refused": func(b bench) {
		for _, body := range []string{"", "hell", "hello!"} {
			link := b.signPut(b.key("a"), s3.UploadTerms{Size: 5})
			wantEqual(b, body, b.send(http.MethodPut, link, body, nil), http.StatusForbidden)
		}
		b.absent(b.key("a"))
	},
	"an empty body can be promised": func(b bench) {
		link := b.signPut(b.key("a"), s3.UploadTerms{})
		wantEqual(b, "status", b.send(http.MethodPut, link, "", nil), http.StatusOK)
		b.holds(b.key("a"), nil)
	},
	"a promised SHA-256 is enforced and known afterwards": checksum,
	"a URL is good for one method and key": func(b bench) {
		link := b.signPut(b.key("a"), s3.UploadTerms{Size: 5})
		wantEqual(b, "GET", b.send(http.MethodGet, link, "", nil), http.StatusForbidden)
		wantEqual(b, "DELETE", b.send(http.MethodDelete, link, "", nil), http.StatusForbidden)
		link.URL = strings.Replace(link.URL, "/a?", "/b?", 1)
		wantEqual(b, "other key", b.send(http.MethodPut, link, "hello", nil), http.StatusForbidden)
	},
	"a URL ends when it says": func(b bench) {
		b.put(b.key("a"), []byte("x"))
		link, err := b.PresignGet(b.Context(), b.key("a"), time.Second, s3.ResponseHeaders{})
		if err != nil {
			b.Fatal(err)
		}
		time.Sleep(2100 * time.Millisecond)
		wantEqual(b, "status", b.send(http.MethodGet, s3.Presigned{URL: link}, "", nil), http.StatusForbidden)
	},
	"a download has the headers that were signed": download,
	"a part is uploaded by its own URL": func(b bench) {
		id := b.begin(b.key("a"))
		link, err := b.PresignPart(b.Context(), b.key("a"), id, 2, time.Minute, 5)
		if err != nil {
			b.Fatal(err)
		}
		wantEqual(b, "longer", b.send(http.MethodPut, link, "hello!", nil), http.StatusForbidden)
		other := s3.Presigned{URL: strings.Replace(link.URL, "partNumber=2", "partNumber=3", 1)}
		wantEqual(b, "other part", b.send(http.MethodPut, other, "hello", nil), http.StatusForbidden)
		wantEqual(b, "status", b.send(http.MethodPut, link, "hello", nil), http.StatusOK)
		parts, err := b.ListParts(b.Context(), b.key("a"), id)
		if err != nil {
			b.Fatal(err)
		}
		wantEqual(b, "parts", len(parts), 1)
		wantEqual(b, "number", parts[0].Number, 2)
		wantEqual(b, "size", parts[0].Size, 5)
	},
}

func checksum(b bench) {
	sum := sha256.Sum256([]byte("hello"))
	link := b.signPut(b.key("a"), s3.UploadTerms{Size: 5, SHA256: hex.EncodeToString(sum[:])})
	wantEqual(b, "headers to send", len(link.Headers), 1)
	wantEqual(b, "other bytes", b.send(http.MethodPut, link, "HELLO", nil), http.StatusBadRequest)
	bare := s3.Presigned{URL: link.URL}
	wantEqual(b, "header left out", b.send(http.MethodPut, bare, "hello", nil), http.StatusForbidden)
	b.absent(b.key("a"))
	wantEqual(b, "status", b.send(http.MethodPut, link, "hello", nil), http.StatusOK)
	stat, err := b.Stat(b.Context(), b.key("a"))
	if err != nil {
		b.Fatal(err)
	}
	if stat.SHA256 != "" { // a store need not remember it
		wantEqual(b, "SHA-256", stat.SHA256, hex.EncodeToString(sum[:]))
	}
}

func download(b bench) {
	b.put(b.key("a"), []byte("hello"))
	want := s3.ResponseHeaders{
		ContentType: "image/png", ContentDisposition: `attachment; filename="a (1).png"`, CacheControl: "private, max-age=60",
	}
	link, err := b.PresignGet(b.Context(), b.key("a"), time.Minute, want)
	if err != nil {
		b.Fatal(err)
	}
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, link, nil)
	if err != nil {
		b.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	wantEqual(b, "body", string(body), "hello")
	h := answer.Header
	got := s3.ResponseHeaders{ContentType: h.Get("Content-Type"), ContentDisposition: h.Get("Content-Disposition"), CacheControl: h.Get("Cache-Control")}
	wantEqual(b, "headers", got, want)
	tampered := s3.Presigned{URL: strings.Replace(link, "image%2Fpng", "text%2Fhtml", 1)}
	wantEqual(b, "other type", b.send(http.MethodGet, tampered, "", nil), http.StatusForbidden)
}

func (b bench) signPut(key string, terms s3.UploadTerms) s3.Presigned {
	b.Helper()
	link, err := b.PresignPut(b.Context(), key, time.Minute, terms)
	if err != nil {
		b.Fatal(err)
	}
	return link
}

// send does what a client would and returns the status.
func (b bench) send(method string, link s3.Presigned, body string, h http.Header) int {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), method, link.URL, bytes.NewReader([]byte(body)))
	if err != nil {
		b.Fatal(err)
	}
	maps.Copy(request.Header, h)
	for _, header := range link.Headers {
		request.Header.Set(header.Name, header.Value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}
