package actions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"hasura-storage/actions/internal/clamd"
	"hasura-storage/graphql"
	"hasura-storage/s3"
)

// Antivirus says how files are scanned before they become files, whatever way
// they come in. The zero value scans nothing.
type Antivirus struct {
	Server  string // of a clamd: tcp://host:port or unix:///path; "" scans nothing
	MaxSize int64  // bytes of the largest file that is scanned, default 100 MiB as clamd's own
	// SkipLarge takes larger files unscanned; otherwise they are refused.
	SkipLarge bool
	// AcceptUnscanned takes files while the scanner does not answer; otherwise
	// their uploads stay open until it does.
	AcceptUnscanned bool
}

// Try lets the scanner scan a few harmless bytes, and fails if it does not.
func (a Antivirus) Try(ctx context.Context) error {
	v, err := newScanner(a)
	if v == nil {
		return err
	}
	_, err = v.clamd.Scan(ctx, strings.NewReader("harmless"))
	return err //nolint:wrapcheck // it says what it is about
}

// Validate checks the rules; it does not talk to the daemon.
func (a Antivirus) Validate() error {
	_, err := newScanner(a)
	return err
}

const (
	defaultScanSize = 100 << 20
	maxScans        = 8 // at once: clamd has ten threads by default
)

// scanner is a clamd and the rules for using it. A nil one scans nothing.
type scanner struct {
	rules Antivirus
	clamd *clamd.Client
	room  *semaphore.Weighted
}

func newScanner(rules Antivirus) (*scanner, error) {
	if rules.Server == "" {
		return nil, nil //nolint:nilnil // nothing is scanned
	}
	client, err := clamd.New(rules.Server)
	if err != nil {
		return nil, fmt.Errorf("antivirus: %w", err)
	}
	rules.MaxSize = cmp.Or(rules.MaxSize, defaultScanSize)
	return &scanner{rules: rules, clamd: client, room: semaphore.NewWeighted(maxScans)}, nil
}

// admit refuses a file that could not be scanned for its size alone.
func (v *scanner) admit(size int64) error {
	if v == nil || v.rules.SkipLarge || size <= v.rules.MaxSize {
		return nil
	}
	return Errorf(FileTooBig, "the file has %d bytes, files are scanned for viruses and may have at most %d", size, v.rules.MaxSize).
		With("size", size).With("maxSize", v.rules.MaxSize)
}

// admit holds a file to the bucket's rules and to those of the service.
func (s *Storage) admit(b *graphql.Bucket, size int64, mimeType *string) error {
	if err := readableType(mimeType); err != nil {
		return err
	}
	if err := judge(b, size, mimeType); err != nil {
		return err
	}
	return s.scanner.admit(size)
}

// scan returns VirusFound if the object holds a virus. It stands at its final
// key, where no client can exchange it.
func (s *Storage) scan(ctx context.Context, o s3.Object) error {
	v := s.scanner
	if v == nil || o.Size == 0 || o.Size > v.rules.MaxSize && v.rules.SkipLarge {
		return nil
	}
	if err := v.admit(o.Size); err != nil {
		return err
	}
	if err := v.room.Acquire(ctx, 1); err != nil {
		return err //nolint:wrapcheck // the context's own
	}
	defer v.room.Release(1)
	body, _, err := s.store.Get(ctx, o.Key, s3.GetOptions{IfMatch: o.ETag})
	if err != nil {
		return storeError(err)
	}
	defer body.Close()
	virus, err := v.clamd.Scan(ctx, body)
	if virus != "" {
		return Errorf(VirusFound, "virus found: %s", virus).With("virus", virus)
	}
	return s.unscanned(err, o.Size)
}

// unscanned decides about a file of which the scanner has said nothing.
func (s *Storage) unscanned(err error, size int64) error {
	rules := s.scanner.rules
	switch {
	case err == nil:
		return nil
	case errors.Is(err, clamd.ErrTooLarge) && rules.SkipLarge:
		return nil
	case errors.Is(err, clamd.ErrTooLarge):
		return Errorf(FileTooBig, "the file has %d bytes, the virus scanner takes fewer", size).With("size", size).Because(err)
	case errors.Is(err, clamd.ErrUnavailable) && rules.AcceptUnscanned:
		s.log.Warn("a file is taken unscanned", zap.String("clamd", rules.Server), zap.Error(err))
		return nil
	case errors.Is(err, clamd.ErrUnavailable):
		s.log.Warn("a file could not be scanned for viruses", zap.String("clamd", rules.Server), zap.Error(err))
		return Errorf(Busy, "the file could not be scanned for viruses, try again").Because(err)
	default:
		return storeError(err)
	}
}

// finding is what is recorded of a virus.
type finding struct {
	filename string
	virus    string
	session  map[string]string // of whom uploaded it, as far as it may be kept
}

// infected returns what an upload that failed for a virus leaves on record.
func infected(u upload, cause error) finding {
	found := finding{session: map[string]string{}}
	if e, ok := errors.AsType[*Error](cause); ok {
		found.virus, _ = e.Details["virus"].(string)
	}
	if u.Session != nil {
		_ = json.Unmarshal(*u.Session, &found.session) // it was written by us
	}
	found.filename = deref(u.Name)
	if found.filename == "" && u.File != nil {
		found.filename = deref(u.File.Name)
	}
	return found
}

// quarantine closes an upload that holds a virus, records it and removes the
// bytes, even if the client has gone. While Hasura does not answer the upload
// stays open: the next look at it finds the virus again.
func (s *Storage) quarantine(ctx context.Context, u upload, found finding) {
	ctx, cancel := detached(ctx)
	defer cancel()
	file := &u.File_id
	if u.File == nil {
		file = nil
	}
	closed, err := s.closeInfected(ctx, u, file, found)
	if errors.Is(err, graphql.ErrConflict) { // the file went just now, the record need not
		closed, err = s.closeInfected(ctx, u, nil, found)
	}
	if err != nil {
		s.log.Warn("an infected upload is left to the sweep", zap.String("file_id", u.File_id), zap.Error(err))
		s.release(ctx, u)
		return
	}
	s.log.Warn("a virus was found", zap.String("file_id", u.File_id), zap.String("virus", found.virus))
	if closed {
		u.State = stateAborted
		s.cleanNow(ctx, u)
	}
}

func (s *Storage) closeInfected(ctx context.Context, u upload, file *string, found finding) (bool, error) {
	record := graphql.VirusValues{
		ID: recordID(u.Id), FileID: file, Filename: found.filename, Virus: found.virus, UserSession: found.session,
	}
	// Admin: uploads and findings are the service's own.
	done, err := graphql.CloseInfected(ctx, s.hasura.Admin(), u.Id, u.key(), newID(), s.now().Add(closedCheck), record)
	if err != nil {
		return false, err //nolint:wrapcheck // decided upon by the caller
	}
	if done.Closed.Affected_rows != 1 {
		return false, nil
	}
	s.counts.upload(u.Kind, UploadInfected)
	return true, nil
}

// recordID is the same for every try and does not tell the ticket.
func recordID(uploadID string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("virus of "+uploadID)).String()
}
