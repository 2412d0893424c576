package service

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hasura-storage/actions/images"
	"hasura-storage/cmd/hasura-storage/migrate"
)

// reader puts a value into the configuration, or says what is wrong with it in
// words that follow the variable's name.
type reader = func(c *config, value string) error

func text(field func(*config) *string) reader {
	return func(c *config, value string) error {
		*field(c) = value
		return nil
	}
}

// cdnCacheControl is a switch in hasura-storage, for a header that says less than
// what private answers say here anyway.
func cdnCacheControl(c *config, value string) error {
	if on, err := strconv.ParseBool(value); err == nil {
		if on {
			c.warnings = append(c.warnings, "CDN_CACHE_CONTROL is not obeyed: it is the text of a header here, such as max-age=60")
		}
		return nil
	}
	c.cdnCacheControl = value
	return nil
}

func hide(field func(*config) *secret) reader {
	return func(c *config, value string) error {
		*field(c) = newSecret(value)
		return nil
	}
}

func boolean(field func(*config) *bool) reader {
	return func(c *config, value string) error {
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("must be true or false, not %q", value)
		}
		*field(c) = b
		return nil
	}
}

// maxSide is the default if it is 0, as in nhost's hasura-storage.
func maxSide(c *config, value string) error {
	side, err := strconv.ParseInt(value, 10, 32)
	if err != nil || side < 0 {
		return fmt.Errorf("must be a whole number from 0 to %d, not %q", math.MaxInt32, value)
	}
	c.images.MaxSide = cmp.Or(int(side), images.DefaultLimits().MaxSide)
	return nil
}

// maxBlur may only be lowered: the default is what a transform's work allows.
// nhost's hasura-storage takes more, so that more is no reason not to start. 0 is
// the default there too.
func maxBlur(c *config, value string) error {
	most := images.DefaultLimits().MaxBlur
	sigma, err := strconv.ParseFloat(value, 64)
	if err != nil || !(sigma >= 0) || math.IsInf(sigma, 0) { // the second is for NaN too
		return fmt.Errorf("must be a number from 0 to %v, not %q", most, value)
	}
	if sigma > most {
		c.warnings = append(c.warnings, fmt.Sprintf("IMAGE_TRANSFORMER_MAX_BLUR_SIGMA is not obeyed: %v is the most there is here", most))
	}
	c.images.MaxBlur = min(cmp.Or(sigma, most), most)
	return nil
}

// sizeUnits are powers of 1024.
var sizeUnits = map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

func size(field func(*config) *int64) reader {
	return func(c *config, value string) error {
		digits := strings.TrimRight(value, "KMGiB ")
		n, err := strconv.ParseInt(digits, 10, 64)
		unit, known := sizeUnits[strings.TrimSpace(value[len(digits):])]
		if err != nil || !known || n < 1 || n > math.MaxInt64/unit {
			return fmt.Errorf("must be a number of bytes such as 512MiB, not %q", value)
		}
		*field(c) = n * unit
		return nil
	}
}

// sizeOrNone is a size that may be 0; the field is then negative.
func sizeOrNone(field func(*config) *int64) reader {
	return func(c *config, value string) error {
		if value == "0" {
			*field(c) = -1
			return nil
		}
		return size(field)(c, value)
	}
}

// address is an absolute URL. It is not repeated in the complaint, since it may
// hold a password.
func address(field func(*config) *string) reader {
	return func(c *config, value string) error {
		u, err := url.Parse(value)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return errors.New("must be a URL that begins with http:// or https://")
		}
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return errors.New("must be a URL without user, query and fragment")
		}
		*field(c) = strings.TrimRight(value, "/")
		return nil
	}
}

// postgresSource is not repeated in the complaint, since it holds a password.
func postgresSource(c *config, value string) error {
	c.migrationsSource = newSecret(value)
	return migrate.Check(value)
}

func publicEndpoint(c *config, value string) error {
	if value == "none" {
		c.proxied = true
		return nil
	}
	return address(func(c *config) *string { return &c.store.PublicEndpoint })(c, value)
}

func unsigned(c *config, value string) error {
	var signed bool
	err := boolean(func(*config) *bool { return &signed })(c, value)
	c.store.UnsignedLength = !signed
	return err
}

// plainPath is what needs no escaping, neither in a URL nor in a key.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9/_.-]*$`)

// segments cleans a path and refuses parts that a server might resolve away.
func segments(value string) (string, error) {
	path := strings.Trim(value, "/")
	if !plainPath.MatchString(path) {
		return "", fmt.Errorf("may have letters, digits and / _ . - alone, not %q", value)
	}
	for part := range strings.SplitSeq(path, "/") {
		if path != "" && (part == "" || part == "." || part == "..") {
			return "", fmt.Errorf("has an empty part, . or .. in %q", value)
		}
	}
	return path, nil
}

func rootFolder(c *config, value string) (err error) {
	c.rootFolder, err = segments(value)
	return err
}

// ownPaths are routes beside the REST interface.
var ownPaths = []string{"actions", "events", "cron", "s3", "healthz", "readyz", "version"}

func prefix(c *config, value string) error {
	path, err := segments(value)
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(path, "/")
	if slices.Contains(ownPaths, first) {
		return fmt.Errorf("cannot begin with /%s, which has another meaning", first)
	}
	if path != "" {
		path = "/" + path
	}
	c.prefix = path
	return nil
}

func bind(field func(*config) *string) reader {
	return func(c *config, value string) error {
		_, port, err := net.SplitHostPort(value)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil {
			return fmt.Errorf("must be host:port such as :8000 or 127.0.0.1:8000, not %q", value)
		}
		*field(c) = value
		return nil
	}
}

func origins(c *config, value string) error {
	for origin := range strings.SplitSeq(value, ",") {
		origin = strings.TrimSuffix(strings.TrimSpace(origin), "/")
		if origin == "" {
			continue
		}
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "") {
			return fmt.Errorf("must be a list of * or origins such as https://app.example.com, not %q", origin)
		}
		c.cors.Origins = append(c.cors.Origins, strings.ToLower(origin))
	}
	return nil
}

// minKey is the length of SHA-256's result: a shorter key would be the weaker part.
const minKey = 32

func signingKeys(c *config, value string) error {
	for i, key := range strings.Split(value, ",") {
		key = strings.TrimSpace(key)
		if len(key) < minKey {
			return fmt.Errorf("must have keys of at least %d bytes; number %d has %d", minKey, i+1, len(key))
		}
		c.signingKeys = append(c.signingKeys, newSecret(key))
	}
	return nil
}

// longestLink is what S3 allows.
const longestLink = 7 * 24 * time.Hour

func seconds(c *config, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > int(longestLink/time.Second) {
		return fmt.Errorf("must be a number of seconds from 1 to %d, not %q", int(longestLink/time.Second), value)
	}
	c.maxDownload = time.Duration(n) * time.Second
	return nil
}

func forwardHeaders(c *config, value string) error {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.forwardHeaders = append(c.forwardHeaders, name)
		}
	}
	return nil
}

func cacheAuthorized(c *config, value string) error {
	if value != "private" && value != "bucket" {
		return fmt.Errorf("must be private or bucket, not %q", value)
	}
	c.cacheAuthorized = value == "bucket"
	return nil
}
