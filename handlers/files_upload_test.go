package handlers_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestAFileGoesUpAndDownByREST(t *testing.T) {
	s := startREST(t, nil)
	f := s.upload("owner", part{"file[]", "ä note.txt", "", "hello"}, part{"bucket-id", "", "", "default"})
	t.Logf("%+v", f)
	a := s.send("owner", http.MethodGet, "/files/"+f.ID, nil, nil)
	if a.StatusCode != 200 || string(a.body) != "hello" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	t.Log(a.Header)
	t.Log(s.noted())
}

func TestOps(t *testing.T) {
	s := startREST(t, nil)
	kept := s.upload("owner", part{"file[]", "kept.txt", "", "kept"})
	lost := s.upload("owner", part{"file[]", "lost.txt", "", "lost"})
	s.sql(`INSERT INTO "storage.files" (id, name) VALUES ('33333333-3333-4333-8333-333333333333', 'never.txt')`)
	for o, err := range s.objects.List(t.Context(), "files/", "") {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(o.Key, lost.ID) {
			_ = s.objects.Delete(t.Context(), o.Key)
		}
	}
	orphan := "files/44444444-4444-4444-8444-444444444444"
	for _, key := range []string{orphan, "files/a b%41", "files2/" + kept.ID} {
		if _, err := s.objects.Put(t.Context(), key, strings.NewReader("x"), 1, ""); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct{ path, want string }{
		{"list-orphans", `{"files":["` + orphan + `"],"foreign":["files/a b%41"]}`},
		{"delete-orphans", `{"files":["` + orphan + `"],"foreign":["files/a b%41"]}`},
		{"list-orphans", `{"files":[],"foreign":["files/a b%41"]}`},
		{"list-broken-metadata", `{"metadata":[{"id":"` + lost.ID + `","name":"lost.txt","bucketId":"default","isUploaded":true}]}`},
		{"delete-broken-metadata", `{"metadata":[{"id":"` + lost.ID + `","name":"lost.txt","bucketId":"default","isUploaded":true}]}`},
		{"list-broken-metadata", `{"metadata":[]}`},
		{"list-not-uploaded", `{"metadata":[{"id":"33333333-3333-4333-8333-333333333333","name":"never.txt","bucketId":"default","isUploaded":false}]}`},
	}
	for _, step := range steps {
		a := s.send("admin", http.MethodPost, "/ops/"+step.path, nil, nil)
		if got := strings.TrimSpace(string(a.body)); a.StatusCode != http.StatusOK || got != step.want {
			t.Errorf("%s: %d %s, want %s", step.path, a.StatusCode, got, step.want)
		}
	}
	for _, as := range []string{"owner", "anonymous", "wrong secret", "claims admin"} {
		if a := s.send(as, http.MethodPost, "/ops/list-orphans", nil, nil); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d %s", as, a.StatusCode, a.body)
		}
	}
}
