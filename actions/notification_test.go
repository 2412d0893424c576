package actions_test

import (
	"testing"
	"time"

	"hasura-storage/actions"
)

func TestAHintOfTheStoreCompletesAtOnce(t *testing.T) {
	s := start(t)
	owner := user()
	ticket, waiting := arrived(s, owner), s.create(owner, actions.CreateUpload{Name: "b.txt", Size: 5})
	staged, _ := s.uploadRow(ticket.UploadID)["staging_key"].(string)
	early, _ := s.uploadRow(waiting.UploadID)["staging_key"].(string)
	for range 2 { // stores deliver twice
		if _, err := s.service.Arrived(t.Context(), []string{staged, early, "files/x/y", "elsewhere"}); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); s.uploadRow(ticket.UploadID)["state"] != "committed"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the upload was not completed")
		}
	}
	if row := s.uploadRow(waiting.UploadID); row["state"] != "open" || row["attempts"] != 0.0 {
		t.Errorf("what has not arrived is %v", row)
	}
	if err := s.complete(owner, ticket); err != nil {
		t.Errorf("the client's own completion: %v", err)
	}
	if _, err := s.service.Arrived(t.Context(), make([]string, 1001)); code(err) != actions.BadRequest {
		t.Errorf("too many keys: %v", err)
	}
	s.holds()
}
