package actions_test

import (
	"maps"
	"testing"
	"time"

	"hasura-storage/actions"
)

// TestStatsCountWhatBecomesOfUploads: one completed, one aborted, one left to
// expire, one completed by the sweep, one refused by Hasura; then a file goes.
func TestStatsCountWhatBecomesOfUploads(t *testing.T) {
	s := start(t)
	owner, body := user(), []byte("hello")
	kept := s.upload(owner, "a.txt", "text/plain", body)
	s.create(owner, actions.CreateUpload{Name: "never sent", Size: 5})
	aborted := s.create(owner, actions.CreateUpload{Name: "b", Size: 5})
	if _, err := s.service.AbortUpload(t.Context(), owner, actions.AbortUpload{UploadID: aborted.UploadID}); err != nil {
		t.Fatal(err)
	}
	sent := s.create(owner, actions.CreateUpload{Name: "c", Size: 5})
	if status := put(t, *sent.URL, sent.Headers, body); status != 200 {
		t.Fatalf("status %d", status)
	}
	nobody := actions.Session{"x-hasura-role": "nobody"}
	if _, err := s.service.CreateUpload(t.Context(), nobody, actions.CreateUpload{Name: "d", Size: 5}); code(err) != actions.NotAllowed {
		t.Fatal(err)
	}
	s.sweep(3 * time.Hour)
	s.graphql(owner, `mutation($id: uuid!) { deleteFile(id: $id) { id } }`, map[string]any{"id": kept.ID})
	if err := s.service.FileGone(t.Context(), actions.FileEvent{ID: kept.ID}); err != nil {
		t.Fatal(err)
	}

	got := s.service.Stats()
	want := map[actions.UploadEvent]int64{
		{Kind: "create", Event: actions.UploadOpened}:    5,
		{Kind: "create", Event: actions.UploadCompleted}: 2,
		{Kind: "create", Event: actions.UploadAborted}:   2,
		{Kind: "create", Event: actions.UploadWithdrawn}: 1,
		{Kind: "create", Event: actions.UploadSwept}:     2,
	}
	if !maps.Equal(got.Uploads, want) {
		t.Errorf("uploads are %v, want %v", got.Uploads, want)
	}
	if got.GarbageRemoved != 2 || // of the aborted upload's row, and of the deleted file
		got.ImageMemory != 0 || got.ImageQueue != 0 {
		t.Errorf("stats are %+v", got)
	}
}
