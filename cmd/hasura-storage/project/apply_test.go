package project_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hasura-storage/cmd/hasura-storage/project"
	metadata "hasura-storage/hasura-metadata"
)

func TestApply(t *testing.T) {
	for sentence, folder := range map[string]fs.FS{
		"a new Hasura learns the whole project":    empty,
		"a project of hasura-storage's is adopted": former(),
	} {
		t.Run(sentence, func(t *testing.T) {
			h := start(t, folder, knowing)
			before := permissions(t, h.export())
			report := h.apply()
			if len(report.Done) == 0 || report.Remarks != nil || report.Unusable != nil || report.Missing != "" {
				t.Errorf("report %+v", report)
			}
			h.serves()
			after := h.export()
			if got := permissions(t, after); got != before {
				t.Errorf("permissions changed:\n%s\nwere\n%s", got, before)
			}
			for _, name := range []string{"storageCopyFile", "storage_sweep", "storage_file_replaced", "StorageImageInput"} {
				if !strings.Contains(after, `"`+name+`"`) {
					t.Errorf("%s is missing", name)
				}
			}
			if again := h.apply(); again.Done != nil || again.Remarks != nil || again.Missing != "" {
				t.Errorf("the second start did %+v", again)
			}
			if h.export() != after {
				t.Error("the second start changed the metadata")
			}
			if plan, err := project.Diff(t.Context(), h.options()); err != nil || !plan.Empty() || plan.String() != "" {
				t.Errorf("diff says %v, %v", plan, err)
			}
		})
	}
}

// TestTheCommandLineAgrees compares with the folder as an engine loads it.
func TestTheCommandLineAgrees(t *testing.T) {
	folder, err := fs.Sub(metadata.Project(), "metadata")
	if err != nil {
		t.Fatal(err)
	}
	whole := start(t, folder, knowing)
	if report := whole.apply(); report.Done != nil || report.Remarks != nil {
		t.Errorf("where the Hasura CLI has applied the project, there is still to do: %+v", report)
	}
	h := start(t, empty, knowing)
	h.apply()
	var got, want any
	_ = json.Unmarshal([]byte(h.export()), &got)
	_ = json.Unmarshal([]byte(whole.export()), &want)
	for _, part := range []string{"actions", "custom_types", "cron_triggers"} {
		g, _ := json.Marshal(got.(map[string]any)[part])
		w, _ := json.Marshal(want.(map[string]any)[part])
		if len(g) != len(w) { // the order of the types is free
			t.Errorf("%s:\n got %s\nwant %s", part, g, w)
		}
	}
}

func TestTheProjectsOwnThingsStay(t *testing.T) {
	h := start(t, former(), knowing)
	h.apply()
	exported := h.export()
	for _, own := range []string{`"Weather"`, `"Sky"`, `"weather"`, `"CLOUDS"`} {
		if !strings.Contains(exported, own) {
			t.Errorf("%s is gone", own)
		}
	}
}

func TestStarter(t *testing.T) {
	starter := func(o *project.Options) { o.Starter = true }
	t.Run("a new table gets permissions to begin with", func(t *testing.T) {
		h := start(t, empty, knowing)
		if report := h.apply(starter); report.Remarks != nil || report.Missing != "" {
			t.Errorf("report %+v", report)
		}
		got := permissions(t, h.export())
		for _, want := range []string{"insert_permissions", `"storageDownload"`, `"public"`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is not in\n%s", want, got)
			}
		}
	})
	t.Run("a table that was tracked gets none", func(t *testing.T) {
		h := start(t, former(), knowing)
		before := permissions(t, h.export())
		report := h.apply(starter)
		if !slices.Contains(report.Remarks, "storage.files was tracked already: it gets no permission to begin with") {
			t.Errorf("remarks %q", report.Remarks)
		}
		lines := func(text string) string {
			var files []string
			for line := range strings.Lines(text) {
				if strings.Contains(line, `"schema"`) {
					files = append(files, strings.TrimSpace(line))
				}
			}
			return strings.Join(files, "\n")
		}
		if after := permissions(t, h.export()); lines(after) != lines(before) {
			t.Errorf("permissions changed:\n%s", after)
		}
	})
}

func TestHasuraWithoutTheVariables(t *testing.T) {
	for sentence, env := range map[string]map[string]string{
		"without both":       {},
		"without the URL":    {"HASURA_STORAGE_SECRET": "s"},
		"without the secret": {"HASURA_STORAGE_URL": "http://s:8000"},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := start(t, former(), env)
			for range 2 { // each start says so
				report := h.apply()
				if !strings.Contains(report.Missing, "set HASURA_STORAGE_URL and HASURA_STORAGE_SECRET in its environment") {
					t.Errorf("missing = %q", report.Missing)
				}
			}
			h.serves()
			if exported := h.export(); strings.Contains(exported, "storageDownload") || strings.Contains(exported, "storage_sweep") || strings.Contains(exported, "StorageFile") {
				t.Error("something of the actions is left")
			}
			if bad := h.server.Inconsistent(); len(bad) > 0 {
				t.Errorf("Hasura complains: %+v", bad)
			}
		})
	}
}

func TestTablesAlone(t *testing.T) {
	h := start(t, empty, nil)
	report := h.apply(func(o *project.Options) { o.Services = false })
	if report.Missing != "" || strings.Contains(h.export(), "storageDownload") {
		t.Errorf("report %+v", report)
	}
	h.serves()
}

func TestOtherNamesAreReported(t *testing.T) {
	for sentence, tc := range map[string]struct{ command, remark string }{
		"a root field": {
			`{"type":"pg_set_table_customization","args":{"table":{"schema":"storage","name":"virus"},"configuration":{"custom_name":"virus","custom_root_fields":{"select":"findings"}}}}`,
			"storage.virus has other names than the service asks for: delete is delete_virus, not deleteViruses;",
		},
		"a column": {
			`{"type":"pg_set_table_customization","args":{"table":{"schema":"storage","name":"virus"},"configuration":{"custom_name":"virus","custom_root_fields":{"select":"viruses"},"custom_column_names":{"file_id":"fid"}}}}`,
			"the column file_id is fid, not fileId",
		},
		"a relationship": {
			`{"type":"pg_create_object_relationship","args":{"table":{"schema":"storage","name":"files"},"name":"uploads","using":{"manual_configuration":{"remote_table":{"schema":"storage","name":"buckets"},"column_mapping":{"bucket_id":"id"}}}}}`,
			"the relationship storage.files.uploads leads elsewhere",
		},
		"an event trigger": {
			`{"type":"pg_create_event_trigger","args":{"name":"storage_file_deleted","table":{"schema":"storage","name":"virus"},"webhook":"http://x.example","delete":{"columns":"*"}}}`,
			"the event trigger storage_file_deleted is on storage.virus, not on storage.files",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := start(t, former(), knowing)
			h.command(tc.command)
			var before, after bytes.Buffer
			before.WriteString(permissions(t, h.export()))
			report := h.apply()
			after.WriteString(permissions(t, h.export()))
			if !strings.Contains(strings.Join(report.Remarks, "\n"), tc.remark) {
				t.Errorf("remarks %q, want %q", report.Remarks, tc.remark)
			}
			if again := h.apply(); len(again.Done) > 0 || len(again.Remarks) != len(report.Remarks) {
				t.Errorf("the next start did %q and remarked %q", again.Done, again.Remarks)
			}
		})
	}
}

func TestNewerFormsReplaceOlderOnes(t *testing.T) {
	h := start(t, former(), knowing)
	h.apply()
	h.command(`{"type":"update_action","args":{"name":"storageAbortUpload","definition":{"kind":"synchronous","handler":"http://inside:9/actions/storageAbortUpload","timeout":7,
		"arguments":[{"name":"uploadId","type":"String!"}],"output_type":"StorageAborted","type":"mutation"}}}`)
	h.command(`{"type":"create_action_permission","args":{"action":"storageAbortUpload","role":"user"}}`)
	h.command(`{"type":"pg_create_event_trigger","args":{"name":"storage_file_deleted","replace":true,"table":{"schema":"storage","name":"files"},"webhook":"http://inside:9/events/file-deleted",
		"insert":{"columns":"*"},"retry_conf":{"num_retries":1,"interval_sec":2,"timeout_sec":3}}}`)
	report := h.apply()
	want := []string{"give the action storageAbortUpload its new form", "give the event trigger storage_file_deleted its new form"}
	if !slices.Equal(report.Done, want) {
		t.Errorf("did %q, want %q", report.Done, want)
	}
	exported := h.export()
	for _, kept := range []string{`http://inside:9/actions/storageAbortUpload`, `"timeout":7`, `http://inside:9/events/file-deleted`, `"num_retries":1`} {
		if !strings.Contains(exported, kept) {
			t.Errorf("%s, which is the project's, is gone", kept)
		}
	}
	if !strings.Contains(permissions(t, exported), `"storageAbortUpload"`) {
		t.Error("the action lost its permission")
	}
}

func TestWhatOnlyHasOurNamesStays(t *testing.T) {
	t.Run("an action and an event trigger", func(t *testing.T) {
		h := start(t, former(), knowing)
		h.command(`{"type":"create_action","args":{"name":"storageAbortUpload","definition":{"kind":"synchronous","handler":"http://own.example/x",
			"arguments":[],"output_type":"Weather","type":"mutation"}}}`)
		h.command(`{"type":"pg_create_event_trigger","args":{"name":"storage_file_deleted","table":{"schema":"storage","name":"files"},"webhook":"http://own.example/y","insert":{"columns":"*"}}}`)
		report := h.apply()
		want := []string{
			"the action storageAbortUpload is not the service's: it was left as it is",
			"the event trigger storage_file_deleted does not call the service: it was left as it is",
		}
		if !slices.Equal(report.Remarks, want) || !strings.Contains(h.export(), "storageDownload") {
			t.Errorf("report %+v", report)
		}
	})
	t.Run("a type", func(t *testing.T) {
		h := start(t, empty, knowing)
		h.command(`{"type":"set_custom_types","args":{"objects":[{"name":"StorageFile","fields":[{"name":"path","type":"String!"}]}],"enums":[],"input_objects":[],"scalars":[]}}`)
		report := h.apply()
		if len(report.Remarks) != 1 || !strings.Contains(report.Remarks[0], "a type StorageFile of its own") {
			t.Errorf("remarks %q", report.Remarks)
		}
		if exported := h.export(); strings.Contains(exported, "storageDownload") || !strings.Contains(exported, `"path"`) {
			t.Error("the project's type is gone, or actions came with another's")
		}
		h.serves()
	})
}

func TestSeveralApplyAtOnce(t *testing.T) {
	h := start(t, former(), knowing)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if report, err := project.Apply(t.Context(), h.options()); err != nil || report.Missing != "" {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
	wg.Wait()
	h.serves()
	if again := h.apply(); again.Done != nil {
		t.Errorf("there was still to do: %q", again.Done)
	}
}

func TestAddresses(t *testing.T) {
	h := start(t, empty, nil)
	for _, form := range []string{"", "/", "/v1", "/v1/", "/v1/graphql", "/v1/graphql/"} {
		if _, err := project.Diff(t.Context(), project.Options{Endpoint: h.url + form, AdminSecret: secret, Patience: time.Millisecond}); err != nil {
			t.Errorf("%q: %v", form, err)
		}
	}
	if _, err := project.Diff(t.Context(), project.Options{Endpoint: "hasura:8080"}); err == nil {
		t.Error("an address without a scheme was taken")
	}
}

func TestRefusals(t *testing.T) {
	h := start(t, empty, nil)
	bare := start(t, empty, nil)
	if err := bare.server.Exec(t.Context(), `drop table "storage.garbage"`); err != nil {
		t.Fatal(err)
	}
	before := bare.export()
	for sentence, tc := range map[string]struct {
		change func(*project.Options)
		want   string
	}{
		"a database that Hasura does not have":    {func(o *project.Options) { o.Source = "other" }, "there is no database named other in Hasura, only: default; HASURA_DB_NAME says which to use"},
		"a wrong secret":                          {func(o *project.Options) { o.AdminSecret = "no" }, "admin secret refused"},
		"nobody there":                            {func(o *project.Options) { o.Endpoint = "http://127.0.0.1:1" }, "connection refused"},
		"another program":                         {func(o *project.Options) { o.Endpoint = h.url + "/console" }, "answers 404"},
		"tables that the migrations did not make": {func(o *project.Options) { o.Endpoint = bare.url }, "storage.garbage"},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := h.options()
			o.Patience = 100 * time.Millisecond
			tc.change(&o)
			report, err := project.Apply(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), tc.want) || report.Done != nil {
				t.Errorf("%+v, %v; want %q", report, err, tc.want)
			}
		})
	}
	if bare.export() != before {
		t.Error("half of the tables were added")
	}
}

func TestEachReasonToWaitIsLoggedOnce(t *testing.T) {
	h := start(t, empty, nil)
	for sentence, tc := range map[string]struct{ secret, want string }{"a wrong secret": {"no", "admin secret refused"}, "no secret": {"", "admin secret refused"}} {
		t.Run(sentence, func(t *testing.T) {
			core, logs := observer.New(zapcore.WarnLevel)
			o := h.options()
			o.AdminSecret, o.Log, o.Patience, o.Pause = tc.secret, zap.New(core), 300*time.Millisecond, 10*time.Millisecond
			if _, err := project.Apply(t.Context(), o); err == nil {
				t.Error("no error")
			}
			if logs.Len() != 1 || !strings.Contains(logs.All()[0].ContextMap()["error"].(string), tc.want) {
				t.Errorf("logged %v", logs.All())
			}
		})
	}
}
