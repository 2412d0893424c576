package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// flagCases are command lines. What a case wants nothing of is as it was in the
// environment of TestFlags.
var flagCases = map[string]struct {
	words string
	asks  string // the command and its arguments
	want  map[string]string
}{
	"none":                        {"", "serve", nil},
	"as nhost's service has them": {"serve --bind :8000 --debug --s3-endpoint=http://minio:9000", "serve", map[string]string{"BIND": ":8000", "DEBUG": "true", "S3_ENDPOINT": "http://minio:9000"}},
	"before the command":          {"--bind=:8000 --debug serve", "serve", map[string]string{"BIND": ":8000", "DEBUG": "true"}},
	"without a command":           {"--debug --bind :8000", "serve", map[string]string{"BIND": ":8000", "DEBUG": "true"}},
	"with one dash":               {"-bind :8000", "serve", map[string]string{"BIND": ":8000"}},
	"nhost's other name":          {"--pprof-bind :6060", "serve", map[string]string{"BIND_PPROF": ":6060"}},
	"what is not obeyed":          {"--image-transformer-workers 4", "serve", map[string]string{"IMAGE_TRANSFORMER_WORKERS": "4"}},
	"switched off":                {"--s3-sign-length=false", "serve", map[string]string{"S3_SIGN_LENGTH": "false"}},
	"switched off, in two words":  {"--s3-sign-length false serve", "serve", map[string]string{"S3_SIGN_LENGTH": "false"}},
	"emptied":                     {"--s3-bucket=", "serve", map[string]string{"S3_BUCKET": ""}},
	"a value with an equals sign": {"--postgres-migrations-source=postgres://x?a=b", "serve", map[string]string{"POSTGRES_MIGRATIONS_SOURCE": "postgres://x?a=b"}},
	"a value that is a dash":      {"--hasura-graphql-unauthorized-role - serve", "serve", map[string]string{"HASURA_GRAPHQL_UNAUTHORIZED_ROLE": "-"}},
	"a value with a dash":         {"--s3-secret-key=-key", "serve", map[string]string{"S3_SECRET_KEY": "-key"}},
	"a list, one by one":          {"--cors-allow-origins http://a --cors-allow-origins http://b", "serve", map[string]string{"CORS_ALLOW_ORIGINS": "http://a,http://b"}},
	"the last of two":             {"--bind :7 --bind :8", "serve", map[string]string{"BIND": ":8"}},
	"a text without a value":      {"serve --cdn-cache-control --s3-bucket files", "serve", map[string]string{"CDN_CACHE_CONTROL": "true", "S3_BUCKET": "files"}},
	"at the end":                  {"serve --cdn-cache-control", "serve", map[string]string{"CDN_CACHE_CONTROL": "true"}},
	"switched off like a switch":  {"--cdn-cache-control false serve", "serve", map[string]string{"CDN_CACHE_CONTROL": "false"}},
	"a text with a value":         {"--cdn-cache-control max-age=60 serve", "serve", map[string]string{"CDN_CACHE_CONTROL": "max-age=60"}},
	"a text with it attached":     {"--cdn-cache-control=max-age=60 serve", "serve", map[string]string{"CDN_CACHE_CONTROL": "max-age=60"}},
	"a switch before a flag":      {"--debug --bind :8000", "serve", map[string]string{"DEBUG": "true", "BIND": ":8000"}},
	"of another command":          {"health --bind :8000", "health", map[string]string{"BIND": ":8000"}},
	"among a command's own":       {"metadata apply --hasura-endpoint http://h -starter", "metadata apply -starter", map[string]string{"HASURA_ENDPOINT": "http://h"}},
	"a command's own, with truth": {"ops rollback-keys --apply=true", "ops rollback-keys --apply=true", nil},
	"help of a command":           {"metadata apply --help", "help", nil},
	"help":                        {"--debug serve --help", "help", nil},
}

func TestFlags(t *testing.T) {
	environment := map[string]string{"BIND": ":1", "S3_BUCKET": "from-the-environment", "S3_SIGN_LENGTH": "true"}
	for name, tc := range flagCases {
		t.Run(name, func(t *testing.T) {
			line, err := parse(strings.Fields(tc.words), func(name string) string { return environment[name] })
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(slices.Concat([]string{line.command}, line.args), " "); got != tc.asks {
				t.Errorf("it asks for %q, want %q", got, tc.asks)
			}
			for variable, want := range tc.want {
				if got := line.getenv(variable); got != want {
					t.Errorf("%s is %q, want %q", variable, got, want)
				}
			}
			if _, given := tc.want["S3_BUCKET"]; line.command != "help" && !given && line.getenv("S3_BUCKET") != "from-the-environment" {
				t.Error("the environment is lost")
			}
		})
	}
}

func TestWrongFlags(t *testing.T) {
	for words, want := range map[string]string{
		"serve --s3-secret-kye=hush":           "there is no flag --s3-secret-kye",
		"--s3-secret-kye hush serve":           "there is no flag --s3-secret-kye",
		"serve now --s3-secret-kye hush":       "there is no flag --s3-secret-kye",
		"serve --S3_BUCKET files":              "there is no flag --S3_BUCKET",
		"doctor --":                            "there is no flag --",
		"serve --bind":                         "the flag --bind needs a value",
		"serve --public-url --s3-bucket files": "the flag --public-url needs a value; one that begins with a dash is written --public-url=VALUE",
		"serve --debug perhaps":                `serve takes no argument such as "perhaps"`,
		"metadata apply --apply":               "there is no flag --apply",
		"ops rollback-keys -starter":           "there is no flag -starter",
	} {
		err := run(t.Context(), strings.Fields(words), noEnv, &strings.Builder{})
		if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %q", words, err, want)
		}
	}
}

// TestComplaintsTellNoSecret: a value whose flag is misspelt is not repeated.
func TestComplaintsTellNoSecret(t *testing.T) {
	for _, words := range [][]string{
		{"metadata", "--s3-secret-kye=hush", "apply"},
		{"metadata", "--s3-secret-kye", "hush", "apply"},
		{"metadata", "apply", "--s3-secret-kye=hush"},
		{"metadata", "apply", "hush", "--s3-secret-kye"},
		{"metadata", "apply", "---s3-secret-key=hush"},
		{"metadata", "apply", "--", "--s3-secret-kye=hush"},
		{"metadata", "export", "-=hush", "dir"},
		{"metadata", "apply", "-starter=hush"},
		{"metadata", "s3-secret-key=hush"},
		{"metadata", "apply", "S3_SECRET_KEY=hush"},
		{"ops", "--s3-secret-kye=hush", "rollback-keys"},
		{"ops", "--s3-secret-kye", "hush", "rollback-keys"},
		{"ops", "rollback-keys", "--s3-secret-kye", "hush"},
		{"ops", "rollback-keys", "--apply", "S3_SECRET_KEY=hush"},
		{"ops", "s3-secret-key=hush"},
		{"--s3-secret-kye", "hush", "metadata", "apply"},
		{"serve", "S3_SECRET_KEY=hush"},
		{"serve", "--s3-secret-key hush"},
		{"doctor", "--s3-secret-key:hush"},
		{"S3_SECRET_KEY=hush"},
	} {
		var out strings.Builder
		err := run(t.Context(), words, noEnv, &out)
		if !errors.Is(err, errUsage) || strings.Contains(err.Error()+out.String(), "hush") {
			t.Errorf("%q: %v, and says %s", words, err, out.String())
		}
	}
}

func TestAWrongFlagIsTheCallersFault(t *testing.T) {
	defer func(was []string) { os.Args = was }(os.Args)
	os.Args = []string{"hasura-storage", "serve", "--s3-endpiont=minio"}
	if code := program(); code != 2 {
		t.Errorf("exit code %d", code)
	}
}

// TestFlagsReachTheService: a wrong value is complained of where the environment's would do.
func TestFlagsReachTheService(t *testing.T) {
	environment := map[string]string{"HASURA_ENDPOINT": "http://h", "HASURA_GRAPHQL_ADMIN_SECRET": "x", "S3_BUCKET": "files", "BIND": ":8000"}
	err := run(t.Context(), []string{"serve", "--bind", "8000"}, func(name string) string { return environment[name] }, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "BIND must be host:port") {
		t.Errorf("err = %v", err)
	}
}
