package service

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hasura-storage/actions"
	"hasura-storage/actions/images"
	"hasura-storage/cmd/hasura-storage/purge"
	"hasura-storage/handlers"
	"hasura-storage/s3"
)

// config is what the environment says of the service. Only what has to work
// without all of it looks by itself: Logger, Health and the commands for Hasura's
// metadata.
type config struct {
	hasuraEndpoint   string
	adminSecret      secret
	webhookSecret    secret
	unauthorizedRole string // "" is unknown, noRole none
	backendOnly      bool

	applyMetadata    bool
	databaseName     string // Hasura's
	migrate          bool
	migrationsSource secret

	store       s3.Options // but for its secret key
	storeSecret secret
	rootFolder  string
	proxied     bool // clients cannot reach the store
	hints       secret
	antivirus   actions.Antivirus

	signingKeys []secret
	maxDownload time.Duration

	forwardHeaders  []string
	cacheAuthorized bool
	cdnCacheControl string
	purge           purge.Options // but for its secrets
	fastlyKey       secret
	purgeWebhook    secret
	uploadMemory    int64

	images      images.Limits
	presetsOnly bool
	imageMemory int64
	imageCache  int64
	fileCache   int64 // negative is none

	publicURL   string // without a final slash
	bind        string
	bindPprof   string // "" is none
	bindMetrics string // "" is none
	traces      string // where they go; "" is nowhere
	prefix      string // "" or "/v1"
	cors        handlers.CORS

	memoryGiven bool // by GOMEMLIMIT, which Go's runtime obeys

	sweepCheck    time.Duration // see swept
	sweepPatience time.Duration

	warnings []string
}

// noRole says that Hasura has no unauthorized role. An empty variable looks like
// a forgotten one.
const noRole = "-"

// load reads the environment. Its error holds every complaint at once, one a
// line, and no value of a secret.
func load(getenv func(string) string) (config, error) {
	c := config{
		images: images.DefaultLimits(), memoryGiven: getenv("GOMEMLIMIT") != "",
		sweepCheck: sweepCheck, sweepPatience: sweepPatience,
	}
	var complaints []error
	for _, s := range settings {
		value := s.value(getenv)
		if value == "" {
			continue
		}
		if err := s.read(&c, value); err != nil {
			complaints = append(complaints, fmt.Errorf("%s %w", s.name, err))
		}
	}
	complaints = append(complaints, c.missing(getenv)...)
	complaints = append(complaints, c.unfit()...)
	c.unsupported(getenv)
	c.defaults()
	return c, errors.Join(complaints...)
}

// missing are the complaints about settings that are needed, alone or by others.
func (c *config) missing(getenv func(string) string) []error {
	var complaints []error
	need := func(name, why string) {
		if strings.TrimSpace(getenv(name)) == "" {
			complaints = append(complaints, fmt.Errorf("%s %s", name, why))
		}
	}
	need("HASURA_ENDPOINT", "is required")
	need("HASURA_GRAPHQL_ADMIN_SECRET", "is required")
	need("S3_BUCKET", "is required")
	switch {
	case c.store.AccessKey != "" && c.storeSecret.missing():
		need("S3_SECRET_KEY", "is required with S3_ACCESS_KEY")
	case !c.storeSecret.missing() && c.store.AccessKey == "":
		need("S3_ACCESS_KEY", "is required with S3_SECRET_KEY")
	}
	switch {
	case c.purge.FastlyService != "" && c.fastlyKey.missing():
		need("FASTLY_KEY", "is required with FASTLY_SERVICE")
	case c.purge.FastlyService == "" && !c.fastlyKey.missing():
		need("FASTLY_SERVICE", "is required with FASTLY_KEY")
	}
	if c.migrate {
		need("POSTGRES_MIGRATIONS_SOURCE", "is required with POSTGRES_MIGRATIONS")
	}
	if c.cors.Credentials && slices.Contains(c.cors.Origins, "*") {
		complaints = append(complaints, errors.New("CORS_ALLOW_CREDENTIALS needs pages by name in CORS_ALLOW_ORIGINS: with * every page could read what its visitors may"))
	}
	if c.backendOnly {
		need("HASURA_GRAPHQL_UNAUTHORIZED_ROLE", "is required with STORAGE_BACKEND_ONLY: the role's name as Hasura has it, or - if it has none")
	}
	return complaints
}

// unfit are the complaints of the parts about what they are given. What is
// incomplete is left out: it has its complaint.
func (c *config) unfit() []error {
	var complaints []error
	complain := func(about string, err error) {
		if err != nil {
			complaints = append(complaints, fmt.Errorf("%s%w", about, err))
		}
	}
	if c.store.Bucket != "" && (c.store.AccessKey == "") == c.storeSecret.missing() {
		_, err := s3.New(c.storeOptions())
		complain("", err)
	}
	if (c.purge.FastlyService == "") == c.fastlyKey.missing() {
		_, err := purge.New(c.purgeOptions())
		complain("PURGE_WEBHOOK: ", err)
	}
	complain("CLAMAV_SERVER: ", c.antivirus.Validate())
	return complaints
}

func (c *config) storeOptions() s3.Options {
	options := c.store
	options.SecretKey = c.storeSecret.reveal()
	return options
}

func (c *config) purgeOptions() purge.Options {
	options := c.purge
	options.FastlyKey, options.Webhook = c.fastlyKey.reveal(), c.purgeWebhook.reveal()
	return options
}

// unsupported warns of settings that would seem to work.
func (c *config) unsupported(getenv func(string) string) {
	for _, s := range elsewhere {
		value := strings.TrimSpace(getenv(s.name))
		if value == "" || value == "0" || strings.EqualFold(value, "false") {
			continue
		}
		c.warnings = append(c.warnings, fmt.Sprintf("%s is not obeyed: %s", s.name, s.advice))
	}
}

// defaults fills in what a table cannot.
func (c *config) defaults() {
	if c.webhookSecret.missing() {
		c.warnings = append(c.warnings, "HASURA_STORAGE_SECRET is not set: actions, events and cron are closed")
	}
	if len(c.signingKeys) == 0 {
		c.warnings = append(c.warnings, "SIGNING_KEYS is not set: links to pictures end with this process, and another copy of the service refuses them")
		c.signingKeys = []secret{randomKey()}
	}
	if c.unauthorizedRole == noRole {
		c.unauthorizedRole = ""
	}
}

func randomKey() secret {
	var key [minKey]byte
	_, _ = rand.Read(key[:]) // never fails
	return newSecret(string(key[:]))
}
