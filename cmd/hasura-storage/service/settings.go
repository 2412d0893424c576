package service

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// setting is one environment variable: what the README says of it, and how its
// value gets into the configuration. read is never given an empty value.
type setting struct {
	name     string
	fallback string
	meaning  string
	read     func(c *config, value string) error
}

// value is what the environment says, or the fallback. Secrets out of files end
// in a newline.
func (s setting) value(getenv func(string) string) string {
	return cmp.Or(strings.TrimSpace(getenv(s.name)), s.fallback)
}

// settingOf returns the setting of a name that stands in settings.
func settingOf(name string) setting {
	return settings[slices.IndexFunc(settings, func(s setting) bool { return s.name == name })]
}

// settings are all variables, in the order of the README. Names that
// hasura-storage has are its own, so that an environment made for it is taken.
var settings = []setting{
	{"HASURA_ENDPOINT", "", "Hasura's address, such as `http://hasura:8080/v1`; required", address(func(c *config) *string { return &c.hasuraEndpoint })},
	{"HASURA_GRAPHQL_ADMIN_SECRET", "", "Hasura's admin secret; required", hide(func(c *config) *secret { return &c.adminSecret })},
	{"HASURA_STORAGE_SECRET", "", "what Hasura sends to prove that it is Hasura: give both the same; without it actions, events and cron are closed", hide(func(c *config) *secret { return &c.webhookSecret })},
	{"HASURA_METADATA", "false", "`1`: at the start, track tables, relationships and names in Hasura and, where `HASURA_STORAGE_SECRET` is set, add actions and triggers; what is there stays, and no permission is added", boolean(func(c *config) *bool { return &c.applyMetadata })},
	{"HASURA_DB_NAME", "default", "Hasura's name of the database, for the setting above", text(func(c *config) *string { return &c.databaseName })},
	{"POSTGRES_MIGRATIONS", "false", "`1`: at the start, bring the database to the schema of this version", boolean(func(c *config) *bool { return &c.migrate })},
	{"POSTGRES_MIGRATIONS_SOURCE", "", "that database, as `postgres://user:password@host:5432/database`", postgresSource},
	{"HASURA_GRAPHQL_UNAUTHORIZED_ROLE", "", "Hasura's setting of the same name, or `-` if it has none", text(func(c *config) *string { return &c.unauthorizedRole })},
	{"HASURA_FORWARD_HEADERS", "Authorization, X-Hasura-*", "headers of a REST request by which Hasura knows its sender, separated by commas; `Cookie` is one only if it is named", forwardHeaders},
	{"STORAGE_BACKEND_ONLY", "false", "use the permissions that are marked `backend_only`; needs `HASURA_GRAPHQL_UNAUTHORIZED_ROLE`", boolean(func(c *config) *bool { return &c.backendOnly })},
	{"S3_ENDPOINT", "", "the store, as host, host:port or URL; empty is AWS", text(func(c *config) *string { return &c.store.Endpoint })},
	{"S3_PUBLIC_ENDPOINT", "", "the store's URL as clients reach it; empty is the same; `none` if they cannot: bytes then go through this service", publicEndpoint},
	{"S3_REGION", "", "the store's region; empty is `us-east-1`, or `auto` on Cloudflare R2", text(func(c *config) *string { return &c.store.Region })},
	{"S3_BUCKET", "", "the bucket that holds everything; required", text(func(c *config) *string { return &c.store.Bucket })},
	{"S3_ROOT_FOLDER", "", "begins every key in the bucket; letters, digits and `/ _ . -`", rootFolder},
	{"S3_ACCESS_KEY", "", "the store's access key; without keys they are found as AWS' own tools find them", text(func(c *config) *string { return &c.store.AccessKey })},
	{"S3_SECRET_KEY", "", "the store's secret key", hide(func(c *config) *secret { return &c.storeSecret })},
	{"S3_DISABLE_HTTPS", "false", "speak plain HTTP to an `S3_ENDPOINT` that is no URL", boolean(func(c *config) *bool { return &c.store.Insecure })},
	{"S3_SIGN_LENGTH", "true", "`false` lets clients upload through proxies that send bodies in chunks; sizes are then checked at completion alone", unsigned},
	{"S3_NOTIFICATION_SECRET", "", "what the store sends as `Authorization: Bearer …` to `POST /s3/notifications` when objects are written, so that uploads complete at once; without it there is no such route", hide(func(c *config) *secret { return &c.hints })},
	{"CLAMAV_SERVER", "", "a clamd that scans everything that comes in, as `tcp://host:3310` or `unix:///path`; without it nothing is scanned", text(func(c *config) *string { return &c.antivirus.Server })},
	{"CLAMAV_MAX_SIZE", "100MiB", "the largest file that is scanned; clamd's `StreamMaxLength` and `MaxFileSize` must not be smaller", size(func(c *config) *int64 { return &c.antivirus.MaxSize })},
	{"CLAMAV_SKIP_LARGE", "false", "`true` takes larger files unscanned; otherwise they are refused with `file-too-big`", boolean(func(c *config) *bool { return &c.antivirus.SkipLarge })},
	{"CLAMAV_ACCEPT_UNSCANNED", "false", "`true` takes files while clamd does not answer; otherwise uploads stay open until it does, and callers get `busy`", boolean(func(c *config) *bool { return &c.antivirus.AcceptUnscanned })},
	{"SIGNING_KEYS", "", "keys that sign links to pictures, 32 bytes or more each, separated by commas: the first signs, all verify; without one, links end with the process", signingKeys},
	{"MAX_DOWNLOAD_EXPIRATION", "3600", "longest life, in seconds, of a link for others than the admin, where its bucket's `download_expiration` is not longer", seconds},
	{"PUBLIC_URL", "http://localhost:8000", "this service's address as browsers reach it", address(func(c *config) *string { return &c.publicURL })},
	{"BIND", ":8000", "where to listen, as host:port", bind(func(c *config) *string { return &c.bind })},
	{"BIND_PPROF", "", "where to offer Go's profiles below `/debug/pprof/`, as host:port, to whoever can connect; without it nowhere", bind(func(c *config) *string { return &c.bindPprof })},
	{"BIND_METRICS", "", "where to offer metrics for Prometheus at `/metrics`, as host:port, to whoever can connect; without it nowhere", bind(func(c *config) *string { return &c.bindMetrics })},
	{"OTEL_EXPORTER_OTLP_ENDPOINT", "", "where traces go by OTLP over HTTP, as URL without `/v1/traces`; without it there are none", address(func(c *config) *string { return &c.traces })},
	{"API_ROOT_PREFIX", "/v1", "begins the paths of the REST interface", prefix},
	{"CORS_ALLOW_ORIGINS", "*", "web pages that may read answers, separated by commas; `*` is every one", origins},
	{"CORS_ALLOW_CREDENTIALS", "false", "these pages may send cookies along; they must be named then, not `*`", boolean(func(c *config) *bool { return &c.cors.Credentials })},
	{"CACHE_AUTHORIZED", "private", "`bucket`: shared caches may keep answers to requests with credentials as well, as long as their bucket says", cacheAuthorized},
	{"CDN_CACHE_CONTROL", "", "the header CDN-Cache-Control of what shared caches may keep", cdnCacheControl},
	{"FASTLY_SERVICE", "", "the Fastly service that is told to forget files that were replaced or deleted", text(func(c *config) *string { return &c.purge.FastlyService })},
	{"FASTLY_KEY", "", "the key for it", hide(func(c *config) *secret { return &c.fastlyKey })},
	{"PURGE_WEBHOOK", "", "a URL that is told the same: called with POST for each file if `{id}` stands in it, otherwise with `{\"ids\": [...]}`", hide(func(c *config) *secret { return &c.purgeWebhook })},
	{"UPLOAD_MEMORY", "256MiB", "memory that uploads by REST may hold together, a quarter of it (64 MiB at least) those of one sender", size(func(c *config) *int64 { return &c.uploadMemory })},
	{"IMAGE_TRANSFORMER_MAX_DIMENSION", "8000", "longest side, in pixels, of a picture that may be asked for; `0` is the default", maxSide},
	{"IMAGE_TRANSFORMER_MAX_BLUR_SIGMA", "250", "largest sigma of a blur that may be asked for; `0` is the default, and more than 250 is 250", maxBlur},
	{"IMAGE_PRESETS_ONLY", "false", "pictures are made by the presets of their bucket and by signed links alone; links to anything else are signed for the admin only", boolean(func(c *config) *bool { return &c.presetsOnly })},
	{"IMAGE_MEMORY", "256MiB", "memory that all transforms may use together", size(func(c *config) *int64 { return &c.imageMemory })},
	{"IMAGE_CACHE", "64MiB", "memory for finished variants", size(func(c *config) *int64 { return &c.imageCache })},
	{"FILE_CACHE", "32MiB", "memory for small files that are asked for again and again, up to an eighth of it each; `0` keeps none", sizeOrNone(func(c *config) *int64 { return &c.fileCache })},
	{"DEBUG", "false", "log more", boolean(func(*config) *bool { return new(bool) })},
	{"LOG_FORMAT_TEXT", "false", "log text instead of JSON", boolean(func(*config) *bool { return new(bool) })},
}

// elsewhere are settings of hasura-storage that this version does not obey, and
// what to do instead.
var elsewhere = []struct {
	name, advice string
}{
	{"IMAGE_TRANSFORMER_WORKERS", "transforms are bounded by IMAGE_MEMORY"},
}

// SettingsTable is the README's table of environment variables, in Markdown.
func SettingsTable() string {
	var b strings.Builder
	b.WriteString("| variable | default | meaning |\n|---|---|---|\n")
	for _, s := range settings {
		fallback := ""
		if s.fallback != "" {
			fallback = "`" + s.fallback + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.name, fallback, s.meaning)
	}
	return b.String()
}
