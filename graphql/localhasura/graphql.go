package localhasura

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hasura-storage/graphql/localhasura/auth"
	"hasura-storage/graphql/localhasura/document"
	"hasura-storage/graphql/localhasura/jsontext"
	"hasura-storage/graphql/localhasura/pgtype"
	"hasura-storage/graphql/localhasura/qerr"
)

// graphQL serves a GraphQL endpoint. keepStatus is for /v1alpha1, whose errors
// have real statuses; /v1 always answers 200.
func (s *Server) graphQL(keepStatus bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Request-Id") == "" { // forwarded to actions like a client's own
			r.Header.Set("X-Request-Id", uuid.NewString())
		}
		a := answering{server: s, w: w, r: r, keepStatus: keepStatus}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		parsed, refused := parseBody(body)
		session, denied := s.auth.Authenticate(r.Header)
		a.internal = denied == nil && s.auth.ShowsInternal(session)
		switch {
		case denied != nil: // an auth error wins over an unreadable body
			a.fail(denied)
		case refused != nil:
			a.fail(refused)
		default:
			a.answer(r.Context(), session, parsed)
		}
	}
}

// batch is what a body holds: one request, or a list of them.
type batch struct {
	requests []*document.Request
	list     bool
}

func parseBody(body []byte) (batch, *qerr.Error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("trailing text")
		}
	}
	if err != nil {
		return batch{}, qerr.New(qerr.InvalidJSON, jsontext.Invalid(body))
	}
	list, isList := v.([]any)
	if !isList {
		req, err := parseRequest(v, "$")
		return batch{requests: []*document.Request{req}}, err
	}
	b := batch{list: true}
	for i, item := range list {
		req, err := parseRequest(item, fmt.Sprintf("$[%d]", i))
		if err != nil {
			return b, err
		}
		b.requests = append(b.requests, req)
	}
	return b, nil
}

const requestType = "Hasura.GraphQL.Transport.HTTP.Protocol.GQLReq(GQLReq)"

// parseRequest reads one request as Hasura's decoder does.
func parseRequest(v any, at string) (*document.Request, *qerr.Error) {
	o, ok := v.(map[string]any)
	if !ok {
		return nil, qerr.Newf(qerr.ParseFailed, "parsing %s failed, expected Object, but encountered %s", requestType, pgtype.Kind(v)).At(at)
	}
	query, given := o["query"]
	if !given {
		return nil, qerr.Newf(qerr.ParseFailed, "parsing %s failed, key \"query\" not found", requestType).At(at)
	}
	req := &document.Request{}
	if req.Query, ok = query.(string); !ok {
		return nil, kindError("Text", "String", query, at+".query")
	}
	if name := o["operationName"]; name != nil {
		if req.Operation, ok = name.(string); !ok {
			return nil, kindError("Text", "String", name, at+".operationName")
		}
	}
	if vars := o["variables"]; vars != nil {
		if req.Variables, ok = vars.(map[string]any); !ok {
			return nil, kindError("HashMap", "Object", vars, at+".variables")
		}
	}
	return req, nil
}

func kindError(what, want string, got any, at string) *qerr.Error {
	return qerr.Newf(qerr.ParseFailed, "parsing %s failed, expected %s, but encountered %s", what, want, pgtype.Kind(got)).At(at)
}

// answering writes the answer to one HTTP request.
type answering struct {
	server     *Server
	w          http.ResponseWriter
	r          *http.Request
	keepStatus bool
	internal   bool // the reader may see errors' internal parts
}

func (a answering) answer(ctx context.Context, session auth.Session, b batch) {
	state := a.server.state.Load()
	var answers []string
	for _, req := range b.requests {
		e := &execution{server: a.server, state: state, session: session, request: req, headers: a.r.Header, host: a.r.Host}
		data, err := e.run(ctx)
		for _, cookie := range e.cookies {
			a.w.Header().Add("Set-Cookie", cookie)
		}
		if err != nil && !b.list {
			a.fail(err)
			return
		}
		if err != nil {
			answers = append(answers, string(err.GraphQL(a.internal)))
			continue
		}
		answers = append(answers, `{"data":`+data+`}`)
	}
	text := "[" + strings.Join(answers, ",") + "]"
	if !b.list {
		text = answers[0]
	}
	a.succeed(text)
}

// fail answers an error for the whole request.
func (a answering) fail(err *qerr.Error) {
	status := http.StatusOK
	if a.keepStatus {
		status = err.HTTPStatus()
	}
	a.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	a.w.WriteHeader(status)
	_, _ = a.w.Write(err.GraphQL(a.internal)) //nolint:gosec // JSON, and said to be; the client may be gone
}

// minGzip is the size from which Hasura compresses answers.
const minGzip = 700

func (a answering) succeed(text string) {
	h := a.w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Request-Id", a.r.Header.Get("X-Request-Id"))
	if len(text) >= minGzip && strings.Contains(a.r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		text = b.String()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = io.WriteString(a.w, text) // the client may be gone
}
