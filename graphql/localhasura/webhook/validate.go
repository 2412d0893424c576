package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"hasura-storage/graphql/localhasura/jsontext"
	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
)

// Input is what a mutation wants to write to one table, to be judged by the
// webhook of the role's permission.
type Input struct {
	Validation *metadata.InputValidation
	Role       string
	Vars       map[string]string
	// Items are rows of an insert, or the arguments of an update or delete.
	Items []any
	// Headers and Host are the client's.
	Headers http.Header
	Host    string
}

// defaultValidation is how long Hasura waits for a judgement.
const defaultValidation = 10 * time.Second

// Validate asks the webhook about an input; nil means that it is accepted.
// Only an answer of status 400 with a message has one for the client.
func (c *Caller) Validate(ctx context.Context, in Input) *qerr.Error {
	d := &in.Validation.Definition
	body, fault := jsontext.Encode(in.payload())
	if fault != nil {
		return qerr.Internalf(fault, "internal error when validating input data")
	}
	from := origin{configured: d.Headers, forward: d.ForwardClientHeaders, client: in.Headers, host: in.Host}
	r, err := c.newRequest(ctx, d.URL, from, body)
	if err != nil {
		return err
	}
	limit := defaultValidation
	if d.Timeout > 0 {
		limit = time.Duration(d.Timeout) * time.Second
	}
	answer, fault := c.send(ctx, r, limit)
	if fault != nil {
		return qerr.Internalf(fault, "http exception when validating input data")
	}
	return judgement(answer)
}

func (in Input) payload() any {
	type data struct {
		Input []any `json:"input"`
	}
	return struct {
		Version int               `json:"version"`
		Role    string            `json:"role"`
		Vars    map[string]string `json:"session_variables"`
		Data    data              `json:"data"`
	}{1, in.Role, in.Vars, data{in.Items}}
}

func judgement(r *response) *qerr.Error {
	if r.status >= 200 && r.status < 300 {
		return nil
	}
	if r.status != http.StatusBadRequest {
		return qerr.Internalf(nil, "internal error when validating input data")
	}
	var refusal struct {
		Message *string `json:"message"`
	}
	if err := json.Unmarshal(r.body, &refusal); err != nil || refusal.Message == nil {
		return qerr.New(qerr.Unexpected, "received invalid response from input validation webhook")
	}
	return qerr.New(qerr.ValidationFailed, *refusal.Message)
}
