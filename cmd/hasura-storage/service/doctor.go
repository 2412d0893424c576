package service

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"hasura-storage/actions"
	"hasura-storage/cmd/hasura-storage/project"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// checkTime is how long one check may take: somebody is watching.
const checkTime = 10 * time.Second

// Doctor tries everything out that the service needs, as its settings say, and
// writes a line for each finding to out. The error says how many are broken. It
// leaves nothing behind, and needs no service that runs but for Hasura's way to it.
func Doctor(ctx context.Context, getenv func(string) string, out io.Writer) error {
	f := &findings{ctx: ctx, out: out}
	c, err := load(getenv)
	f.tell("the settings can be read", err)
	if err == nil {
		c.examine(f)
	}
	if f.broken > 0 {
		f.failed = errors.Join(f.failed, fmt.Errorf("%d checks failed", f.broken))
	}
	return f.failed
}

// findings are told as they come.
type findings struct {
	ctx    context.Context //nolint:containedctx // of one call of Doctor
	out    io.Writer
	broken int
	failed error // of out
}

// check tries something out within checkTime, and tells. It reports whether that went well.
func (f *findings) check(what string, try func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(f.ctx, checkTime)
	defer cancel()
	err := try(ctx)
	f.tell(what, err)
	return err == nil
}

// tell writes what holds, or each line of why it does not.
func (f *findings) tell(what string, err error) {
	if err == nil {
		f.line("ok     ", what)
		return
	}
	f.broken++
	f.line("broken ", what+": "+strings.ReplaceAll(err.Error(), "\n", "; "))
}

func (f *findings) note(text string) { f.line("note   ", text) }

func (f *findings) line(mark, text string) {
	_, err := fmt.Fprintf(f.out, "%s%s\n", mark, text)
	f.failed = errors.Join(f.failed, err)
}

// examine goes from part to part. What cannot be tried because of an earlier
// finding is left out.
func (c *config) examine(f *findings) {
	for _, warning := range c.warnings {
		f.note(warning)
	}
	c.examineHasura(f)
	store, err := s3.New(c.storeOptions())
	if err != nil {
		f.tell("the store's settings fit together", err)
	} else {
		c.examineStore(f, store)
	}
	if c.antivirus.Server != "" {
		f.check("clamd scans at CLAMAV_SERVER", c.antivirus.Try)
	}
}

// examineHasura looks at Hasura's metadata, and goes the whole way of an action.
func (c *config) examineHasura(f *findings) {
	var plan project.Plan
	reached := f.check("Hasura answers at HASURA_ENDPOINT and takes the admin secret", func(ctx context.Context) (err error) {
		plan, err = project.Diff(ctx, project.Options{
			Endpoint: c.hasuraEndpoint, AdminSecret: c.adminSecret.reveal(), Source: c.databaseName, Services: true, Patience: time.Second,
		})
		return err
	})
	if !reached {
		return
	}
	for _, remark := range plan.Remarks {
		f.note(remark)
	}
	f.tell("Hasura tracks the tables, by the names that are asked for", lacking(plan.Tables))
	f.tell("Hasura can use its metadata of the service", complaints(plan.Unusable))
	if c.webhookSecret.missing() {
		return
	}
	services := lacking(plan.Services)
	f.tell("Hasura has the actions and triggers", services)
	if services == nil {
		f.check("Hasura reaches the service at HASURA_STORAGE_URL, and it takes Hasura's HASURA_STORAGE_SECRET", c.callThroughHasura)
	}
}

func lacking(changes []project.Change) error {
	says := make([]string, 0, len(changes))
	for _, change := range changes {
		says = append(says, change.Says)
	}
	if len(says) == 0 {
		return nil
	}
	return fmt.Errorf("to do, by hasura-storage metadata apply: %s", strings.Join(says, ", "))
}

func complaints(unusable []string) error {
	if len(unusable) == 0 {
		return nil
	}
	return errors.New(strings.Join(unusable, "; "))
}

// callThroughHasura asks Hasura for an action that can only be refused, and by
// nobody but the service.
func (c *config) callThroughHasura(ctx context.Context) error {
	query := `{"query": "mutation { storageAbortUpload(uploadId: \"` + uuid.NewString() + `\") { aborted } }"}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, graphql.Root(c.hasuraEndpoint)+"/v1/graphql", strings.NewReader(query))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Hasura-Admin-Secret", c.adminSecret.reveal())
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // another address would get the secret
	answer, err := (&http.Client{CheckRedirect: stay}).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var said struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&said); err != nil || len(said.Errors) == 0 {
		return fmt.Errorf("Hasura answers %s, and not as an action does", answer.Status) //nolint:staticcheck // a name
	}
	if e := said.Errors[0]; e.Extensions.Code != string(actions.UploadNotFound) {
		return fmt.Errorf("%s (%s)", e.Message, e.Extensions.Code)
	}
	return nil
}

// noticedSkew is more than a clock that is kept differs.
const noticedSkew = 30 * time.Second

// examineStore goes the ways of a file: written, copied, read and deleted by the
// service, and written by a client.
func (c *config) examineStore(f *findings, store *s3.Store) {
	if !f.check("the store answers and has the bucket S3_BUCKET", store.Ready) {
		return
	}
	if skew, err := store.Skew(f.ctx); err == nil && skew.Abs() > noticedSkew {
		f.note(fmt.Sprintf("the store's clock and ours differ by %s: links end too early or too late", skew.Abs().Round(time.Second)))
	}
	keys := []string{actions.ScratchKey(c.rootFolder), actions.ScratchKey(c.rootFolder)}
	f.check("the store takes, copies and gives back objects", func(ctx context.Context) error { return roundTrip(ctx, store, keys[0], keys[1]) })
	if !c.proxied {
		c.examineUpload(f, store, keys[0])
	}
	f.check("the store deletes objects", func(ctx context.Context) error {
		if err := store.Delete(ctx, keys...); err != nil {
			return err
		}
		_, err := store.Stat(ctx, keys[0])
		switch {
		case err == nil:
			return fmt.Errorf("%s is still there", keys[0])
		case !errors.Is(err, s3.ErrNotFound):
			return err
		}
		return nil
	})
}

const scratch = "hasura-storage was here"

func roundTrip(ctx context.Context, store *s3.Store, first, second string) error {
	written, err := store.Put(ctx, first, strings.NewReader(scratch), int64(len(scratch)), "text/plain")
	if err != nil {
		return err
	}
	if _, err := store.Copy(ctx, first, second, s3.CopyOptions{IfMatch: written.ETag, ContentType: "text/plain", Size: written.Size}); err != nil {
		return err
	}
	body, _, err := store.Get(ctx, second, s3.GetOptions{})
	if err != nil {
		return err
	}
	defer body.Close()
	got, err := io.ReadAll(io.LimitReader(body, 1<<10))
	if err == nil && string(got) != scratch {
		return errors.New("other bytes came back")
	}
	return err
}

// examineUpload does what a client does with a ticket, and what he may not do.
func (c *config) examineUpload(f *findings, store *s3.Store, key string) {
	var link string
	at := c.store.Endpoint
	if c.store.PublicEndpoint != "" {
		at = c.store.PublicEndpoint
	}
	taken := f.check("a client's upload reaches the store at "+at, func(ctx context.Context) error {
		signed, err := store.PresignPut(ctx, key, time.Minute, s3.UploadTerms{Size: int64(len(scratch))})
		if err != nil {
			return err
		}
		link = signed.URL
		return put(ctx, link, scratch)
	})
	if !taken || c.store.UnsignedLength {
		return
	}
	f.check("the store refuses an upload of another length", func(ctx context.Context) error {
		if err := put(ctx, link, scratch+", and more"); err == nil {
			return errors.New("it was taken: sizes are checked at completion alone")
		}
		return nil
	})
}

// put sends text to a presigned URL, which is a secret and stands in no error.
func put(ctx context.Context, link, text string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, link, strings.NewReader(text))
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	answer, err := http.DefaultClient.Do(r)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		var said struct{ Code string } // the rest may quote the URL
		_ = xml.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&said)
		return errors.New(strings.TrimSpace(answer.Status + " " + said.Code))
	}
	return nil
}
