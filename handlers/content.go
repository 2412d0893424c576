package handlers

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"hasura-storage/actions"
	"hasura-storage/handlers/conditional"
)

// signed serves what a signed link names. Path and query are part of the
// signature, so they are passed on as they came, and what cannot be read at all
// was not signed by us.
func (s *server) signed(w http.ResponseWriter, r *http.Request) {
	_, path, _ := strings.Cut(r.URL.EscapedPath(), "/signed/")
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		renderREST(w, r, actions.Errorf(actions.BadRequest, "the query of the address cannot be read"))
		return
	}
	content, err := s.service.SignedContent(r.Context(), chi.URLParam(r, "id"), path, query, strings.Join(r.Header.Values("Accept"), ","))
	if err != nil {
		renderREST(w, r, err)
		return
	}
	s.serveContent(w, r, content)
}

// serveContent answers a GET or HEAD with content, or with as much of it as the
// request's conditions and range ask for.
func (s *server) serveContent(w http.ResponseWriter, r *http.Request, c actions.Content) {
	if err := s.tryContent(w, r, c); err != nil {
		renderREST(w, r, err)
	}
}

// tryContent does so, or returns why the content cannot be had before anything
// was answered. Conditions are decided before content that is not there yet is
// made, and the body is opened only if it is sent.
func (s *server) tryContent(w http.ResponseWriter, r *http.Request, c actions.Content) error {
	varies(w.Header(), c)
	facts := conditional.Facts{ETag: c.ETag, LastModified: c.LastModified, Size: c.Size}
	d := conditional.Decide(r.Method, r.Header, facts)
	if c.Finish != nil && d.Answer != conditional.NotModified && d.Answer != conditional.Failed {
		var err error
		if c, err = c.Finish(r.Context(), c); err != nil {
			return err
		}
		facts.Size = c.Size
		d = conditional.Decide(r.Method, r.Header, facts)
	}
	switch d.Answer {
	case conditional.NotModified:
		validators(fieldsOf(w.Header()), c)
		w.WriteHeader(d.Status())
	case conditional.Failed:
		fail(w, r, d.Status(), errCondition)
	case conditional.Unsatisfiable:
		w.Header().Set("Content-Range", d.ContentRange(c.Size))
		fail(w, r, d.Status(), actions.Errorf(actions.BadRequest, "the range lies outside of the file").With("size", c.Size))
	default:
		return s.sendContent(w, r, c, d)
	}
	return nil
}

var errCondition = actions.Errorf(actions.Conflict, "the file is no longer what the request's condition says")

// varies says what the answer depends on, errors included.
func varies(h http.Header, c actions.Content) {
	names := c.Vary
	if c.Negotiated {
		names = append([]string{"Accept"}, names...)
	}
	if vary := strings.Join(names, ", "); vary != "" && !slices.Contains(h.Values("Vary"), vary) {
		h.Add("Vary", vary)
	}
}

// sendContent opens the body before it promises anything: until then a failure
// can still be told, and is returned.
func (s *server) sendContent(w http.ResponseWriter, r *http.Request, c actions.Content, d conditional.Decision) error {
	if r.Method == http.MethodHead || d.Length == 0 {
		describe(w.Header(), c, d)
		w.WriteHeader(d.Status())
		return nil
	}
	length := d.Length
	if d.Answer == conditional.Whole {
		length = 0 // to the end
	}
	body, err := c.Open(r.Context(), d.Offset, length)
	if err != nil {
		return err
	}
	defer body.Close()
	describe(w.Header(), c, d)
	w.WriteHeader(d.Status())
	if err := s.transfer(w, body, d.Length); err != nil {
		_ = note(r, err)
		panic(http.ErrAbortHandler) // an early end must not look like the end
	}
	return nil
}

// validators are the headers of a 304 too.
func validators(f *fields, c actions.Content) {
	f.set("Etag", c.ETag)
	f.set("Cache-Control", c.CacheControl)
	f.set("Surrogate-Key", c.SurrogateKey)
	f.set("Surrogate-Control", c.SurrogateControl)
	f.set("Cdn-Cache-Control", c.CDNCacheControl)
	if !c.LastModified.IsZero() {
		f.set("Last-Modified", c.LastModified.UTC().Format(http.TimeFormat))
	}
}

func describe(h http.Header, c actions.Content, d conditional.Decision) {
	f := fieldsOf(h)
	validators(f, c)
	if c.ContentType == "" {
		c.ContentType = "application/octet-stream"
	}
	f.set("Content-Type", c.ContentType)
	f.set("Content-Length", strconv.FormatInt(d.Length, 10))
	f.set("Accept-Ranges", "bytes")
	f.set("Content-Disposition", c.Disposition)
	f.set("Content-Range", d.ContentRange(c.Size))
	if needsSandbox(c.ContentType) {
		// Opened as a page of its own it is shown, but runs nothing and reaches nobody.
		f.set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	}
}

// needsSandbox reports whether a browser might run scripts in a document of this
// type: HTML, XML by any name (Chromium takes text/xsl for it, Firefox text/rdf),
// and parts of types of their own. So all text but the plain one does, and so
// does a type that cannot be read, or that leaves it to the browser to find one.
func needsSandbox(contentType string) bool {
	t, err := contentType, error(nil)
	if !plainType(contentType) {
		t, _, err = mime.ParseMediaType(contentType)
	}
	return err != nil || !strings.Contains(t, "/") || strings.Contains(t, "*") || strings.Contains(t, "unknown") || strings.Contains(t, "mozilla") ||
		strings.HasPrefix(t, "text/") && t != "text/plain" || strings.HasPrefix(t, "multipart/") ||
		strings.HasSuffix(t, "/xml") || strings.HasSuffix(t, "+xml")
}

// plainType reports whether a type has neither parameters nor capitals nor
// anything odd: most do not, and need not be taken apart.
func plainType(t string) bool {
	slashes := 0
	for i := range len(t) {
		switch c := t[i]; {
		case c == '/':
			slashes++
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '.', c == '+':
		default:
			return false
		}
	}
	return slashes == 1 && t[0] != '/' && t[len(t)-1] != '/'
}

// pieceSize is how much is copied or written at once.
const pieceSize = 128 << 10

// pieces are reused: a download needs one buffer, however large the file.
var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// transfer sends exactly length bytes. It stops the source if that stands still;
// the writer watches over the client.
func (s *server) transfer(w io.Writer, body actions.Body, length int64) error {
	if memory, ok := body.(io.WriterTo); ok {
		if _, err := memory.WriteTo(inPieces{w}); err != nil {
			return fmt.Errorf("%w: %w", errClientGone, err)
		}
		return nil
	}
	watch := time.AfterFunc(s.Stall, body.Stop)
	defer watch.Stop()
	return copyPieces(w, body, length, func() { watch.Reset(s.Stall) })
}

// inPieces writes so that a slow client gets its time for each piece, and not
// once for all. Pieces grow while they are taken at once: large writes cost less
// than many small ones.
type inPieces struct{ io.Writer }

const (
	firstPiece = 256 << 10
	largePiece = 1 << 20
	atOnce     = 250 * time.Millisecond
)

func (w inPieces) Write(p []byte) (n int, err error) {
	for size := firstPiece; err == nil && n < len(p); {
		begun := time.Now()
		var done int
		done, err = w.Writer.Write(p[n:min(n+size, len(p))])
		n += done
		if time.Since(begun) < atOnce {
			size = min(2*size, largePiece)
		} else {
			size = firstPiece
		}
	}
	return n, err
}

// copyPieces copies exactly length bytes and calls alive with each piece of the source's.
func copyPieces(w io.Writer, body io.Reader, length int64, alive func()) error {
	piece, _ := pieces.Get().(*[pieceSize]byte)
	defer pieces.Put(piece)
	for left := length; left > 0; {
		n, err := body.Read(piece[:min(left, int64(len(piece)))])
		alive()
		if n > 0 {
			left -= int64(n)
			if _, err := w.Write(piece[:n]); err != nil {
				return fmt.Errorf("%w: %w", errClientGone, err)
			}
		}
		if err != nil && left > 0 {
			return actions.Errorf(actions.StorageUnavailable, "only %d of %d bytes could be read", length-left, length).Because(err)
		}
	}
	return nil
}
