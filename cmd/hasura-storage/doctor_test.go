package main

import (
	"context"
	"maps"
	"net"
	"strings"
	"testing"

	"go.uber.org/zap"

	"hasura-storage/cmd/hasura-storage/service"
)

// serve runs the service where Hasura looks for it.
func (w *world) serve() {
	w.t.Helper()
	env := maps.Clone(w.env)
	env["BIND"] = "127.0.0.1:0"
	ctx, stop := context.WithCancel(w.t.Context())
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- service.Run(ctx, func(name string) string { return env[name] }, zap.NewNop(), ready) }()
	w.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	w.knows.Store("HASURA_STORAGE_URL", "http://"+(<-ready).String())
}

const healthy = `ok     the settings can be read
ok     Hasura answers at HASURA_ENDPOINT and takes the admin secret
ok     Hasura tracks the tables, by the names that are asked for
ok     Hasura can use its metadata of the service
ok     Hasura has the actions and triggers
ok     Hasura reaches the service at HASURA_STORAGE_URL, and it takes Hasura's HASURA_STORAGE_SECRET
ok     the store answers and has the bucket S3_BUCKET
ok     the store takes, copies and gives back objects
ok     a client's upload reaches the store at {S3_ENDPOINT}
ok     the store refuses an upload of another length
ok     the store deletes objects
`

func TestDoctorFindsNothing(t *testing.T) {
	w := startWorld(t)
	w.serve()
	out, err := w.run("doctor")
	if want := strings.ReplaceAll(healthy, "{S3_ENDPOINT}", w.env["S3_ENDPOINT"]); err != nil || out != want {
		t.Errorf("it says\n%sand %v, want\n%s", out, err, want)
	}
	for o, err := range w.store.List(t.Context(), "", "") {
		t.Errorf("left behind: %s, %v", o.Key, err)
	}
}

func TestDoctorFindsWhatIsBroken(t *testing.T) {
	w := startWorld(t)
	w.serve()
	bare := runningHasura(t, map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": "the-admin-secret"})
	for name, test := range map[string]struct {
		env   map[string]string
		says  string
		lacks string // what cannot be tried then
		fails string
	}{
		"settings":             {map[string]string{"S3_BUCKET": "", "BIND": "x"}, "broken the settings can be read: BIND must be", "Hasura", "1 checks failed"},
		"no Hasura":            {map[string]string{"HASURA_ENDPOINT": "http://127.0.0.1:1"}, "broken Hasura answers at HASURA_ENDPOINT", "tracks", "1 checks failed"},
		"the admin secret":     {map[string]string{"HASURA_GRAPHQL_ADMIN_SECRET": "x"}, "admin secret refused", "tracks", "1 checks failed"},
		"a bare Hasura":        {map[string]string{"HASURA_ENDPOINT": bare("HASURA_ENDPOINT")}, "broken Hasura tracks the tables, by the names that are asked for: to do, by hasura-storage metadata apply: name the new columns", "reaches the service", "2 checks failed"},
		"the database's name":  {map[string]string{"HASURA_DB_NAME": "other"}, "there is no database named other", "tracks", "1 checks failed"},
		"another secret":       {map[string]string{"HASURA_STORAGE_SECRET": ""}, "note   HASURA_STORAGE_SECRET is not set", "reaches the service", ""},
		"no store":             {map[string]string{"S3_ENDPOINT": "http://127.0.0.1:1"}, "broken the store answers and has the bucket S3_BUCKET", "copies", "1 checks failed"},
		"no bucket":            {map[string]string{"S3_BUCKET": "not-there"}, "broken the store answers and has the bucket S3_BUCKET", "copies", "1 checks failed"},
		"a wrong store key":    {map[string]string{"S3_SECRET_KEY": "wrong"}, "broken the store answers and has the bucket S3_BUCKET", "copies", "1 checks failed"},
		"no way for clients":   {map[string]string{"S3_PUBLIC_ENDPOINT": "http://127.0.0.1:1"}, "broken a client's upload reaches the store at http://127.0.0.1:1: dial tcp", "X-Amz", "1 checks failed"},
		"a wrong way":          {map[string]string{"S3_PUBLIC_ENDPOINT": w.hasura}, "broken a client's upload reaches the store at " + w.hasura + ": 404", "another length", "1 checks failed"},
		"clients go elsewhere": {map[string]string{"S3_PUBLIC_ENDPOINT": "none"}, "ok     the store deletes objects", "a client's upload", ""},
		"lengths are unsigned": {map[string]string{"S3_SIGN_LENGTH": "false"}, "ok     a client's upload", "another length", ""},
		"no signing keys":      {map[string]string{"SIGNING_KEYS": ""}, "note   SIGNING_KEYS is not set", "broken", ""},
		"a slash at its end":   {map[string]string{"HASURA_ENDPOINT": w.hasura + "/v1/"}, "ok     Hasura reaches the service", "broken", ""},
		"no clamd":             {map[string]string{"CLAMAV_SERVER": "tcp://127.0.0.1:1"}, "broken clamd scans at CLAMAV_SERVER: the virus scanner is unavailable", "X-Amz", "1 checks failed"},
	} {
		t.Run(name, func(t *testing.T) {
			sick := *w
			sick.t, sick.env = t, maps.Clone(w.env)
			maps.Copy(sick.env, test.env)
			out, err := sick.run("doctor")
			if !strings.Contains(out, test.says) || strings.Contains(out, test.lacks) {
				t.Errorf("it says\n%swant %q and not %q", out, test.says, test.lacks)
			}
			if (err != nil || test.fails != "") && (err == nil || err.Error() != test.fails) {
				t.Errorf("it fails with %v, want %s", err, test.fails)
			}
		})
	}
}

func TestDoctorGoesTheWayOfAnAction(t *testing.T) {
	w := startWorld(t)
	out, err := w.run("doctor") // nobody is at HASURA_STORAGE_URL
	if err == nil || !strings.Contains(out, "broken Hasura reaches the service at HASURA_STORAGE_URL") {
		t.Errorf("it says\n%sand %v", out, err)
	}
	w.serve()
	w.knows.Store("HASURA_STORAGE_SECRET", "another")
	if out, err = w.run("doctor"); err == nil || !strings.Contains(out, "broken Hasura reaches the service at HASURA_STORAGE_URL, and it takes Hasura's HASURA_STORAGE_SECRET: ") {
		t.Errorf("it says\n%sand %v", out, err)
	}
}
