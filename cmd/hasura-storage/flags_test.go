package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	environment := map[string]string{"BIND": ":1", "S3_BUCKET": "from-the-environment", "S3_SIGN_LENGTH": "true"}
	for name, tc := range map[string]struct {
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
		"of another command":          {"health --bind :8000", "health", map[string]string{"BIND": ":8000"}},
		"among a command's own":       {"metadata apply --hasura-endpoint http://h -starter", "metadata apply -starter", map[string]string{"HASURA_ENDPOINT": "http://h"}},
		"help":                        {"--debug serve --help", "help", nil},
	} {
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
		"serve --s3-secret-kye=hush":                  "there is no flag --s3-secret-kye",
		"--s3-secret-kye hush serve":                  "there is no flag --s3-secret-kye",
		"serve now --s3-secret-kye hush":              "there is no flag --s3-secret-kye",
		"serve --S3_BUCKET files":                     "there is no flag --S3_BUCKET",
		"doctor --":                                   "there is no flag --",
		"serve --bind":                                "the flag --bind needs a value",
		"serve --cdn-cache-control --s3-bucket files": "the flag --cdn-cache-control needs a value; one that begins with a dash is written --cdn-cache-control=VALUE",
		"serve --debug perhaps":                       `serve takes no argument such as "perhaps"`,
		"metadata apply --s3-secret-kye=hush":         "flag provided but not defined: -s3-secret-kye",
		"ops rollback-keys --s3-secret-kye hush":      "flag provided but not defined: -s3-secret-kye",
	} {
		err := run(t.Context(), strings.Fields(words), noEnv, &strings.Builder{})
		if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %q", words, err, want)
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
