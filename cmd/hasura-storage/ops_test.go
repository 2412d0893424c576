package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestKeysGoBackByHand(t *testing.T) {
	w := startWorld(t)
	key := func(n int) string { return fmt.Sprintf("files/%026d/%s", n, id(n)) }
	for n := range 3 {
		o, err := w.store.Put(t.Context(), key(n), strings.NewReader("hello"), 5, "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		etag := strings.ReplaceAll(o.ETag, `"`, `\"`)
		w.admin(`mutation { insertFile(object: {id: "` + id(n) + `", size: 5, mimeType: "text/plain", etag: "` + etag + `", isUploaded: true, objectKey: "` + key(n) + `"}) { id } }`)
	}
	if err := w.store.Delete(t.Context(), key(2)); err != nil {
		t.Fatal(err)
	}
	moved := key(0) + " -> files/" + id(0) + "\n" + key(1) + " -> files/" + id(1) + "\n"
	stays := "! " + key(2) + " stays: its object is missing\n"
	for _, step := range []struct{ args, says, fails string }{
		{"", moved + key(2) + " -> files/" + id(2) + "\nwould go back (-apply does it): 3 files\n", ""},
		{"-apply", moved + stays + "went back: 2 files\n", "1 files stay where they are"},
		{"-apply", stays + "went back: 0 files\n", "1 files stay where they are"},
	} {
		out, err := w.run(append([]string{"ops", "rollback-keys"}, strings.Fields(step.args)...)...)
		if out != step.says || (err == nil) != (step.fails == "") || err != nil && err.Error() != step.fails {
			t.Errorf("%q says\n%sand %v, want\n%sand %s", step.args, out, err, step.says, step.fails)
		}
	}
	if _, err := w.store.Stat(t.Context(), "files/"+id(1)); err != nil {
		t.Error(err)
	}
	if text := w.admin(`{ files(where: {objectKey: {_is_null: true}}) { id } }`); strings.Count(text, `"id"`) != 2 {
		t.Error(text)
	}
}

func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n+1) }
