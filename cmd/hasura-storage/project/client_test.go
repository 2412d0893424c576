package project_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"hasura-storage/cmd/hasura-storage/project"
)

// scripted answers the metadata API as a test wants.
func scripted(t *testing.T, answer func(kind string, body []byte) (int, string)) project.Options {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var command struct{ Type string }
		_ = json.Unmarshal(body, &command)
		status, text := answer(command.Type, body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return project.Options{Endpoint: server.URL, AdminSecret: secret, Services: true, Patience: 2 * time.Second, Pause: time.Millisecond}
}

const bare = `{"resource_version":%d,"metadata":{"version":3,"sources":[{"name":"default","kind":"postgres","tables":[]}]}}`

func TestWhatHasuraTookAndCannotUseIsTakenBack(t *testing.T) {
	for sentence, tc := range map[string]struct {
		complaint string
		missing   string
		bulks     int
	}{
		"an action":            {`{"name":"action storageDownload","type":"action","reason":"Inconsistent object: environment variable 'HASURA_STORAGE_SECRET' not set"}`, "Hasura lacks HASURA_STORAGE_SECRET", 3},
		"an event trigger":     {`{"name":"event_trigger storage_file_deleted in table storage.files in source default","reason":"no hdb_catalog"}`, "Hasura refused actions and triggers: event_trigger storage_file_deleted", 3},
		"an object of another": {`{"name":"action storageDownloads2","type":"action","reason":"gone"}`, "", 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			var bulks []string
			report, err := project.Apply(t.Context(), scripted(t, func(kind string, body []byte) (int, string) {
				switch kind {
				case "export_metadata":
					return 200, fmt.Sprintf(bare, len(bulks))
				case "bulk":
					bulks = append(bulks, string(body))
					return 200, "[]"
				case "get_inconsistent_metadata":
					if len(bulks) == 2 {
						return 200, `{"is_consistent":false,"inconsistent_objects":[` + tc.complaint + `]}`
					}
					return 200, `{"is_consistent":true,"inconsistent_objects":[]}`
				}
				return 200, `{"message":"success"}`
			}))
			if err != nil || !strings.HasPrefix(report.Missing, tc.missing) || (report.Missing == "") != (tc.missing == "") {
				t.Errorf("%+v, %v", report, err)
			}
			if len(bulks) != tc.bulks {
				t.Fatalf("%d bulks, want %d", len(bulks), tc.bulks)
			}
			if tc.bulks == 3 {
				for _, back := range []string{"pg_delete_event_trigger", "delete_cron_trigger", "drop_action", `{"args":{"enums":[],"input_objects":[],"objects":[],"scalars":[]},"type":"set_custom_types"}`} {
					if !strings.Contains(bulks[2], back) {
						t.Errorf("%s is not taken back", back)
					}
				}
				if strings.Index(bulks[2], "set_custom_types") < strings.Index(bulks[2], "drop_action") {
					t.Error("the types go before the actions that need them")
				}
			}
			for i, text := range bulks {
				if !strings.Contains(text, fmt.Sprintf(`"resource_version":%d`, i)) {
					t.Errorf("bulk %d names no version: %.80s", i, text)
				}
			}
		})
	}
}

func TestPassingTroubleIsWaitedFor(t *testing.T) {
	answers := []struct {
		status int
		text   string
	}{
		{502, "<html>bad gateway"},
		{503, `{"error":"starting","code":"unexpected","path":"$"}`},
		{401, `{"error":"invalid \"x-hasura-admin-secret\"/\"x-hasura-access-key\"","code":"access-denied","path":"$"}`},
		{400, `{"error":"restricted access : admin only","code":"access-denied","path":"$.args"}`},
		{404, `{"error":"resource does not exist","code":"not-found","path":"$"}`},
		{409, `{"error":"metadata resource version referenced (1) did not match current version","code":"conflict","path":"$"}`},
		{200, "<html>a login page"},
		{200, "{}"},
	}
	var asked []string
	report, err := project.Apply(t.Context(), scripted(t, func(kind string, _ []byte) (int, string) {
		if len(asked) < len(answers) {
			a := answers[len(asked)]
			asked = append(asked, kind)
			return a.status, a.text
		}
		switch kind {
		case "export_metadata":
			return 200, fmt.Sprintf(bare, 1)
		case "get_inconsistent_metadata":
			return 200, `{"inconsistent_objects":[{"name":"table storage.files in source default","reason":"no such table"}]}`
		}
		return 200, "[]"
	}))
	if err != nil || len(report.Done) == 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if !slices.Equal(report.Unusable, []string{"table storage.files in source default: no such table"}) {
		t.Errorf("unusable %q", report.Unusable)
	}
}

func TestTheSecretGoesToNobodyElse(t *testing.T) {
	asked := make(chan string, 8)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("X-Hasura-Admin-Secret") }))
	t.Cleanup(other.Close)
	moved := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusPermanentRedirect))
	t.Cleanup(moved.Close)
	_, err := project.Diff(t.Context(), project.Options{Endpoint: moved.URL, AdminSecret: secret, Patience: time.Millisecond, Pause: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "answers 308") {
		t.Errorf("err = %v", err)
	}
	select {
	case got := <-asked:
		t.Errorf("another server was asked, with the secret %q", got)
	default:
	}
}
