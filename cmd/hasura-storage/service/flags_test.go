package service

import (
	"strings"
	"testing"
)

func TestEverySettingIsAFlag(t *testing.T) {
	for _, s := range settings {
		err := s.read(new(config), "neither")
		truth := err != nil && strings.Contains(err.Error(), "must be true or false")
		list := strings.Contains(s.meaning, "separated by commas")
		want := Flag{Variable: s.name, Switch: truth, Optional: s.name == "CDN_CACHE_CONTROL", List: list}
		if got, ok := FlagOf(flagName(s.name)); !ok || got != want {
			t.Errorf("%s: %+v, %v; want %+v", s.name, got, ok, want)
		}
	}
}

// TestFlagsOfNhost: all that nhost's service has are known.
func TestFlagsOfNhost(t *testing.T) {
	for name, variable := range map[string]string{
		"debug": "DEBUG", "log-format-text": "LOG_FORMAT_TEXT", "public-url": "PUBLIC_URL", "api-root-prefix": "API_ROOT_PREFIX", "bind": "BIND",
		"hasura-endpoint": "HASURA_ENDPOINT", "hasura-metadata": "HASURA_METADATA", "hasura-graphql-admin-secret": "HASURA_GRAPHQL_ADMIN_SECRET",
		"hasura-db-name": "HASURA_DB_NAME", "s3-endpoint": "S3_ENDPOINT", "s3-access-key": "S3_ACCESS_KEY", "s3-secret-key": "S3_SECRET_KEY",
		"s3-region": "S3_REGION", "s3-bucket": "S3_BUCKET", "s3-root-folder": "S3_ROOT_FOLDER", "s3-disable-https": "S3_DISABLE_HTTPS",
		"postgres-migrations": "POSTGRES_MIGRATIONS", "postgres-migrations-source": "POSTGRES_MIGRATIONS_SOURCE",
		"fastly-service": "FASTLY_SERVICE", "fastly-key": "FASTLY_KEY", "cdn-cache-control": "CDN_CACHE_CONTROL",
		"cors-allow-origins": "CORS_ALLOW_ORIGINS", "cors-allow-credentials": "CORS_ALLOW_CREDENTIALS", "clamav-server": "CLAMAV_SERVER",
		"pprof-bind": "BIND_PPROF", "image-transformer-workers": "IMAGE_TRANSFORMER_WORKERS",
		"image-transformer-max-dimension": "IMAGE_TRANSFORMER_MAX_DIMENSION", "image-transformer-max-blur-sigma": "IMAGE_TRANSFORMER_MAX_BLUR_SIGMA",
	} {
		if got, ok := FlagOf(name); !ok || got.Variable != variable {
			t.Errorf("%s: %s, %v; want %s", name, got.Variable, ok, variable)
		}
	}
}

// TestSwitchesOfNhost: what needs no value there needs none here.
func TestSwitchesOfNhost(t *testing.T) {
	for _, name := range []string{
		"debug", "log-format-text", "hasura-metadata", "s3-disable-https", "postgres-migrations", "cdn-cache-control", "cors-allow-credentials",
	} {
		if got, ok := FlagOf(name); !ok || !got.Switch && !got.Optional {
			t.Errorf("%s needs a value: %+v, %v", name, got, ok)
		}
	}
}

func TestNoFlagBesides(t *testing.T) {
	for _, name := range []string{"", "-", "BIND", "s3_bucket", "starter", "apply"} {
		if got, ok := FlagOf(name); ok {
			t.Errorf("%q is a flag: %+v", name, got)
		}
	}
}
