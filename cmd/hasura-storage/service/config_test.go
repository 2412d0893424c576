package service

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// enough is the smallest environment that starts.
var enough = map[string]string{
	"HASURA_ENDPOINT":             "http://hasura:8080/v1",
	"HASURA_GRAPHQL_ADMIN_SECRET": "the-admin-secret",
	"S3_BUCKET":                   "files",
}

// with is enough and more; an empty value takes one away.
func with(pairs ...string) func(string) string {
	env := maps.Clone(enough)
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return env[name] }
}

func TestDefaults(t *testing.T) {
	c, err := load(with())
	if err != nil {
		t.Fatal(err)
	}
	if c.bind != ":8000" || c.prefix != "/v1" || c.publicURL != "http://localhost:8000" || c.maxDownload != time.Hour ||
		c.images.MaxSide != 8000 || c.images.MaxBlur != 250 || c.imageMemory != 256<<20 || c.store.UnsignedLength || c.cors.Credentials {
		t.Errorf("config is %+v", c)
	}
	if len(c.signingKeys) != 1 || len(c.signingKeys[0].reveal()) != 32 || !slices.Equal(c.cors.Origins, []string{"*"}) {
		t.Errorf("keys %d, origins %v", len(c.signingKeys), c.cors.Origins)
	}
	if warned := strings.Join(c.warnings, "\n"); !strings.Contains(warned, "HASURA_STORAGE_SECRET") || !strings.Contains(warned, "SIGNING_KEYS") {
		t.Errorf("warnings are %s", warned)
	}
}

func TestAllSettings(t *testing.T) {
	key := strings.Repeat("k", 32)
	c, err := load(with(
		"HASURA_STORAGE_SECRET", "hush\n", "HASURA_GRAPHQL_UNAUTHORIZED_ROLE", "public", "STORAGE_BACKEND_ONLY", "true",
		"S3_ENDPOINT", "minio:9000", "S3_PUBLIC_ENDPOINT", "https://files.example.com/", "S3_REGION", "eu", "S3_ROOT_FOLDER", "/a/b/",
		"S3_ACCESS_KEY", "ak", "S3_SECRET_KEY", "sk", "S3_DISABLE_HTTPS", "1", "S3_SIGN_LENGTH", "false",
		"SIGNING_KEYS", key+", "+key+"2", "MAX_DOWNLOAD_EXPIRATION", "60", "PUBLIC_URL", "https://example.com/storage/",
		"BIND", "127.0.0.1:0", "API_ROOT_PREFIX", "/", "CORS_ALLOW_ORIGINS", "https://A.example.com, https://b.example.com/", "CORS_ALLOW_CREDENTIALS", "true",
		"IMAGE_TRANSFORMER_MAX_DIMENSION", "100", "IMAGE_TRANSFORMER_MAX_BLUR_SIGMA", "2.5", "IMAGE_PRESETS_ONLY", "1", "IMAGE_MEMORY", "1 GiB", "IMAGE_CACHE", "5000",
	))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(c.webhookSecret.reveal(), c.unauthorizedRole, c.backendOnly, c.store.Endpoint, c.store.PublicEndpoint, c.store.Region, c.rootFolder,
		c.store.AccessKey, c.storeSecret.reveal(), c.store.Insecure, c.store.UnsignedLength, len(c.signingKeys), c.maxDownload, c.publicURL,
		c.bind, c.prefix, c.cors, c.images.MaxSide, c.images.MaxBlur, c.presetsOnly, c.imageMemory, c.imageCache, c.warnings)
	want := fmt.Sprintln("hush", "public", true, "minio:9000", "https://files.example.com", "eu", "a/b",
		"ak", "sk", true, true, 2, time.Minute, "https://example.com/storage",
		"127.0.0.1:0", "", "{[https://a.example.com https://b.example.com] true}", 100, 2.5, true, 1<<30, 5000, "[]")
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestComplaints(t *testing.T) {
	for name, tc := range map[string]struct {
		getenv func(string) string
		want   string
	}{
		"a short key":                  {with("SIGNING_KEYS", strings.Repeat("k", 32)+",short"), "SIGNING_KEYS must have keys of at least 32 bytes; number 2 has 5"},
		"an address without scheme":    {with("HASURA_ENDPOINT", "hasura:8080"), "HASURA_ENDPOINT must be a URL that begins with http"},
		"an address with a password":   {with("PUBLIC_URL", "http://u:pass@x"), "PUBLIC_URL must be a URL without user"},
		"a folder that climbs":         {with("S3_ROOT_FOLDER", "a/../b"), "S3_ROOT_FOLDER has an empty part, . or .."},
		"a folder with a blank":        {with("S3_ROOT_FOLDER", "a b"), "S3_ROOT_FOLDER may have letters"},
		"a prefix that is taken":       {with("API_ROOT_PREFIX", "/events/v1"), "API_ROOT_PREFIX cannot begin with /events"},
		"a truth that is none":         {with("STORAGE_BACKEND_ONLY", "yes"), `STORAGE_BACKEND_ONLY must be true or false, not "yes"`},
		"backend only, but of whom":    {with("STORAGE_BACKEND_ONLY", "true"), "HASURA_GRAPHQL_UNAUTHORIZED_ROLE is required with STORAGE_BACKEND_ONLY"},
		"half a key":                   {with("S3_ACCESS_KEY", "ak"), "S3_SECRET_KEY is required with S3_ACCESS_KEY"},
		"the other half":               {with("S3_SECRET_KEY", "sk"), "S3_ACCESS_KEY is required with S3_SECRET_KEY"},
		"a port that is none":          {with("BIND", "8000"), "BIND must be host:port"},
		"profiles at no port":          {with("BIND_PPROF", "6060"), "BIND_PPROF must be host:port"},
		"metrics at no port":           {with("BIND_METRICS", "9090"), "BIND_METRICS must be host:port"},
		"traces by gRPC":               {with("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://collector:4317"), "OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that begins with http"},
		"a port that does not exist":   {with("BIND", ":99999"), "BIND must be host:port"},
		"a link for a month":           {with("MAX_DOWNLOAD_EXPIRATION", "2592000"), "MAX_DOWNLOAD_EXPIRATION must be a number of seconds from 1 to 604800"},
		"a size without sense":         {with("IMAGE_MEMORY", "much"), "IMAGE_MEMORY must be a number of bytes such as 512MiB"},
		"a size without end":           {with("IMAGE_MEMORY", "9223372036854775807GiB"), "IMAGE_MEMORY must be a number of bytes"},
		"an origin with a path":        {with("CORS_ALLOW_ORIGINS", "https://a.example.com/app"), "CORS_ALLOW_ORIGINS must be a list"},
		"every page, with cookies":     {with("CORS_ALLOW_CREDENTIALS", "true"), "CORS_ALLOW_CREDENTIALS needs pages by name in CORS_ALLOW_ORIGINS"},
		"any page among others":        {with("CORS_ALLOW_CREDENTIALS", "true", "CORS_ALLOW_ORIGINS", "https://a.example.com, *"), "CORS_ALLOW_CREDENTIALS needs pages by name"},
		"a scan of nothing":            {with("CLAMAV_MAX_SIZE", "0"), "CLAMAV_MAX_SIZE must be a number of bytes"},
		"migrations of nothing":        {with("POSTGRES_MIGRATIONS", "1"), "POSTGRES_MIGRATIONS_SOURCE is required with POSTGRES_MIGRATIONS"},
		"migrations of something else": {with("POSTGRES_MIGRATIONS_SOURCE", "mysql://u:p@db/x"), "POSTGRES_MIGRATIONS_SOURCE is no connection string of Postgres"},
		"debugging perhaps":            {with("DEBUG", "maybe"), "DEBUG must be true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(tc.getenv)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestLimitsThatAreNone(t *testing.T) {
	for name, tc := range map[string]struct {
		values []string
		want   string
	}{
		"IMAGE_TRANSFORMER_MAX_DIMENSION":  {[]string{"-1", "1.5", "2147483648", "much"}, "must be a whole number from 0"},
		"IMAGE_TRANSFORMER_MAX_BLUR_SIGMA": {[]string{"-1", "-0.001", "NaN", "Inf", "-Inf", "1e400", "much"}, "must be a number from 0 to 250"},
	} {
		for _, value := range tc.values {
			if _, err := load(with(name, value)); err == nil || !strings.Contains(err.Error(), name+" "+tc.want) {
				t.Errorf("%s=%s: %v, want %q", name, value, err, tc.want)
			}
		}
	}
}

// TestLimitsOfNhost: what its service takes starts this one too.
func TestLimitsOfNhost(t *testing.T) {
	for _, tc := range []struct {
		side, blur string
		maxSide    int
		maxBlur    float64
		warned     bool
	}{
		{"0", "0", 8000, 250, false},
		{"9000", "0.0", 9000, 250, false},
		{"1", "0.5", 1, 0.5, false},
		{"", "250", 8000, 250, false},
		{"", "250.5", 8000, 250, true},
		{"", "1000", 8000, 250, true},
	} {
		c, err := load(with("IMAGE_TRANSFORMER_MAX_DIMENSION", tc.side, "IMAGE_TRANSFORMER_MAX_BLUR_SIGMA", tc.blur))
		if err != nil {
			t.Errorf("%+v: %v", tc, err)
			continue
		}
		warned := strings.Contains(strings.Join(c.warnings, "\n"), "IMAGE_TRANSFORMER_MAX_BLUR_SIGMA is not obeyed: 250 is the most")
		if c.images.MaxSide != tc.maxSide || c.images.MaxBlur != tc.maxBlur || warned != tc.warned {
			t.Errorf("%+v: %d, %v, warnings are %q", tc, c.images.MaxSide, c.images.MaxBlur, c.warnings)
		}
	}
}

func TestComplaintsComeAllAtOnce(t *testing.T) {
	_, err := load(func(name string) string { return map[string]string{"BIND": "x", "S3_SECRET_KEY": "hush-hush"}[name] })
	for _, want := range []string{"HASURA_ENDPOINT is required", "HASURA_GRAPHQL_ADMIN_SECRET is required", "S3_BUCKET is required", "S3_ACCESS_KEY is required", "BIND must"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %q in it", err, want)
		}
	}
	if strings.Contains(err.Error(), "hush-hush") {
		t.Errorf("the error tells a secret: %v", err)
	}
}

func TestWhatIsNotObeyedIsSaid(t *testing.T) {
	for _, name := range []string{"IMAGE_TRANSFORMER_WORKERS", "CDN_CACHE_CONTROL"} {
		for value, want := range map[string]bool{"1": true, "0": false, "false": false, "": false} {
			c, err := load(with(name, value))
			if err != nil {
				t.Fatal(err)
			}
			if warned := strings.Join(c.warnings, "\n"); strings.Contains(warned, name+" is not obeyed") != want || c.cdnCacheControl != "" {
				t.Errorf("%s=%s: warnings are %s", name, value, warned)
			}
		}
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	c, err := load(with("HASURA_STORAGE_SECRET", "hush-1", "SIGNING_KEYS", strings.Repeat("hush", 8), "S3_ACCESS_KEY", "ak", "S3_SECRET_KEY", "hush-2"))
	if err != nil {
		t.Fatal(err)
	}
	encoded, _ := json.Marshal(map[string]any{"a": c.webhookSecret, "b": c.storeSecret})
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", c, c, c), fmt.Sprintf("%q %x %v %+v %#v", c.webhookSecret, c.storeSecret, c.adminSecret, c.adminSecret, c.adminSecret), string(encoded)} {
		for _, secret := range []string{"hush", "the-admin-secret", "687573"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is printed: %s", secret, text)
			}
		}
	}
}

func TestEverySettingIsExplainedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range settings {
		if seen[s.name] || s.meaning == "" || strings.ContainsAny(s.meaning, "|\n") {
			t.Errorf("%s: %q", s.name, s.meaning)
		}
		seen[s.name] = true
	}
	for _, s := range elsewhere {
		if seen[s.name] {
			t.Errorf("%s is obeyed and not", s.name)
		}
	}
}

func TestTheREADMEHasTheSettings(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), SettingsTable()) {
		t.Error("the README's table of settings is another one: `hasura-storage settings` prints it")
	}
}

func TestThePartsComplainAtOnceToo(t *testing.T) {
	_, err := load(with(
		"UPLOAD_MEMORY", "much", "S3_ENDPOINT", "http://k:hush-hush@store:9000", "PURGE_WEBHOOK", "http://u:hush-hush@x y/", "CLAMAV_SERVER", "clamd",
	))
	for _, want := range []string{"UPLOAD_MEMORY must", "must be a host", "PURGE_WEBHOOK: ", "CLAMAV_SERVER: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %q in it", err, want)
		}
	}
	if strings.Contains(err.Error(), "hush-hush") {
		t.Errorf("the error tells a secret: %v", err)
	}
}
