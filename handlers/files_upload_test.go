package handlers_test

import (
	"net/http"
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
