package handlers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"hasura-storage/actions"
	"hasura-storage/handlers"
)

// formReader takes every form and writes down its parts.
type formReader struct {
	*actions.Storage
	parts []string
}

func (f *formReader) UploadFiles(_ context.Context, _ actions.Headers, form actions.Form) ([]actions.StoredFile, error) {
	for {
		p, err := form.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(p.Body)
		if err != nil {
			return nil, err
		}
		f.parts = append(f.parts, fmt.Sprintf("%q %q %q %q", p.Field, p.FileName, p.ContentType, body))
	}
}

// FuzzForm compares with a plain reading by the standard library: what is
// accepted has exactly its parts, and what it cannot read is refused.
func FuzzForm(f *testing.F) {
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"file[]\"; filename=\"a.txt\"\r\n\r\nhello\r\n--b--\r\n"))
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"x\"\r\nContent-Transfer-Encoding: base64\r\n\r\n--b\r\n\r\n--b--"))
	f.Add([]byte("--b--"))
	f.Add([]byte("no form"))
	f.Fuzz(func(t *testing.T, body []byte) {
		o, got := options(), &formReader{}
		o.Files = got
		r := httptest.NewRequest(http.MethodPost, "/v1/files", bytes.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		w := httptest.NewRecorder()
		handlers.New(&stub{}, o).ServeHTTP(w, r)
		if w.Code != http.StatusCreated && w.Code != http.StatusBadRequest {
			t.Fatalf("answered %d: %s", w.Code, w.Body)
		}
		want, err := plainReading(body)
		if (w.Code == http.StatusCreated) != (err == nil) {
			t.Fatalf("answered %d where a plain reading says %v", w.Code, err)
		}
		if err == nil && !slices.Equal(got.parts, want) {
			t.Fatalf("parts are %q, a plain reading has %q", got.parts, want)
		}
	})
}

func plainReading(body []byte) (parts []string, err error) {
	reader := multipart.NewReader(bytes.NewReader(body), "b")
	for {
		p, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		if parts = append(parts, fmt.Sprintf("%q %q %q %q", p.FormName(), p.FileName(), p.Header.Get("Content-Type"), content)); len(parts) > 100 {
			return nil, errors.New("too many")
		}
	}
}

// imageReader says what picture was asked for.
type imageReader struct{ *actions.Storage }

func (imageReader) GetFile(_ context.Context, _ actions.Headers, in actions.GetFile) (actions.Content, error) {
	if i := in.Image; i != nil {
		for _, n := range []*int{i.Width, i.Height, i.Quality} {
			if n != nil && *n < 1 {
				panic("below the least")
			}
		}
		if i.Blur != nil && !(*i.Blur >= 0) {
			panic("no number")
		}
	}
	return file("x"), nil
}

// FuzzImageQuery checks that a query is read or refused, whatever stands in it.
func FuzzImageQuery(f *testing.F) {
	for _, seed := range []string{"w=100&h=100&q=80&b=1.5&f=auto", "w=-1", "b=NaN", "b=Inf", "crop=1,2,3,4", "crop=,,,", "w=99999999999999999999", "f=heic", "%zz"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		o := options()
		o.Files = imageReader{}
		r := httptest.NewRequest(http.MethodGet, "/v1/files/"+fileID, nil)
		r.URL = &url.URL{Path: r.URL.Path, RawQuery: raw}
		w := httptest.NewRecorder()
		handlers.New(&stub{}, o).ServeHTTP(w, r)
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Fatalf("%q is answered %d: %s", raw, w.Code, w.Body)
		}
	})
}
