package s3_test

import (
	"crypto/md5"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"hasura-storage/s3"
)

func TestMultiDeleteCarriesContentMD5(t *testing.T) {
	store := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sum := md5.Sum(body)
		if r.Header.Get("Content-Md5") != base64.StdEncoding.EncodeToString(sum[:]) {
			refuse(w, http.StatusBadRequest, "InvalidRequest")
			return
		}
		_, _ = io.WriteString(w, "<DeleteResult></DeleteResult>")
	})
	if err := store.store(t).Delete(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
}

func TestAStoreWithoutMultiDeleteIsRemembered(t *testing.T) {
	for _, status := range []int{http.StatusNotImplemented, http.StatusMethodNotAllowed} {
		stub := newStub(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				refuse(w, status, http.StatusText(status))
				return
			}
			w.WriteHeader(http.StatusNoContent)
		})
		store := stub.store(t)
		for _, want := range []int{1 + 3, 1 + 3 + 3} {
			if err := store.Delete(t.Context(), "a", "b", "c"); err != nil {
				t.Fatal(err)
			}
			if got := len(stub.requests()); got != want {
				t.Fatalf("%d requests, want %d: %q", got, want, stub.requests())
			}
		}
	}
}

func TestADeleteTellsHowMuchIsLeft(t *testing.T) {
	store := newStub(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<DeleteResult><Deleted><Key>a</Key></Deleted>`+
			`<Error><Key>b</Key><Code>AccessDenied</Code></Error><Error><Key>c</Key><Code>AccessDenied</Code></Error>`+
			`<Error><Key>d</Key><Code>NoSuchKey</Code></Error></DeleteResult>`)
	}).store(t)
	err := store.Delete(t.Context(), "a", "b", "c", "d")
	wantOnly(t, err, s3.ErrDenied)
	if !strings.Contains(err.Error(), "2 of 4") {
		t.Fatal(err)
	}
}

func TestManyKeysAreDeletedAThousandAtATime(t *testing.T) {
	stub := newStub(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<DeleteResult></DeleteResult>")
	})
	keys := make([]string, 0, 2500)
	for i := range cap(keys) {
		keys = append(keys, strconv.Itoa(i))
	}
	if err := stub.store(t).Delete(t.Context(), keys...); err != nil {
		t.Fatal(err)
	}
	if got := len(stub.requests()); got != 3 {
		t.Fatalf("%d requests", got)
	}
}

func TestNoKeysNeedNoRequest(t *testing.T) {
	stub := newStub(t, func(_ http.ResponseWriter, _ *http.Request) { t.Error("asked") })
	if err := stub.store(t).Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
}
