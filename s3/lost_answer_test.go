package s3_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"hasura-storage/s3"
	"hasura-storage/s3/s3test"
)

// forgetful opens a store behind a proxy that lets the first completions of
// uploads in parts through, as many as acted says, and loses their answers. To all
// others it answers as MinIO and SeaweedFS do once an upload is no more; the local
// server answers from the object at the key.
func forgetful(t *testing.T, o s3.Options, acted int32) *s3.Store {
	t.Helper()
	target, err := url.Parse("http://" + strings.TrimPrefix(o.Endpoint, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		ModifyResponse: func(answer *http.Response) error {
			if completes(answer.Request) {
				return errors.New("lost")
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	var seen atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if completes(r) && seen.Add(1) > acted {
			refuse(w, http.StatusNotFound, "NoSuchUpload")
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	o.Endpoint = server.URL
	return s3.InSmallParts(s3test.Open(t, o))
}

func completes(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

func TestACompletionWhoseAnswerIsLost(t *testing.T) {
	data := film12()
	for name, former := range map[string][]byte{"at a new key": nil, "in the place of another object": bytes.Repeat([]byte{'x'}, len(data))} {
		t.Run(name, func(t *testing.T) {
			o, behind := copying(t, data, former)
			made, err := forgetful(t, o, 1).Copy(t.Context(), "film", "copy", s3.CopyOptions{ContentType: "video/webm"})
			if err != nil {
				t.Fatal(err)
			}
			stat, err := behind.Stat(t.Context(), "copy")
			if err != nil || stat.ETag != made.ETag || stat.Size != made.Size || stat.ContentType != made.ContentType {
				t.Errorf("copied %+v, told %+v (%v)", stat, made, err)
			}
			if got := contents(t, behind, "copy"); !bytes.Equal(got, data) {
				t.Errorf("the copy holds %d other bytes", len(got))
			}
		})
	}
}

// An upload that is no more tells nothing about the source of a copy, and what
// stood at the key before is not the copy.
func TestACompletionThatNobodyKnowsOf(t *testing.T) {
	data := film12()
	for name, former := range map[string][]byte{"at a new key": nil, "in the place of the same object": data} {
		t.Run(name, func(t *testing.T) {
			o, behind := copying(t, data, former)
			_, err := forgetful(t, o, 0).Copy(t.Context(), "film", "copy", s3.CopyOptions{})
			wantOnly(t, err, s3.ErrUnavailable)
			if err := behind.Delete(t.Context(), "film", "copy"); err != nil {
				t.Fatal(err)
			}
			wantNothing(t, behind)
		})
	}
}

// copying makes a bucket with a film in it and, unless nil, what stood before at
// the copy's key.
func copying(t *testing.T, film, former []byte) (s3.Options, *s3.Store) {
	t.Helper()
	o := s3test.Start(t)
	behind := s3test.Open(t, o)
	for key, data := range map[string][]byte{"film": film, "copy": former} {
		if data == nil {
			continue
		}
		if _, err := behind.Put(t.Context(), key, bytes.NewReader(data), int64(len(data)), "video/mp4"); err != nil {
			t.Fatal(err)
		}
	}
	return o, behind
}
