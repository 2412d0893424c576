package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"hasura-storage/graphql/localhasura/pgtype"
	"hasura-storage/graphql/localhasura/qerr"
)

// exchange is one request and what came back; response is nil when nothing
// did.
type exchange struct {
	request  Request
	response *response
}

// judge decides what the client sees of an answer. JSON is asked for before
// the status is looked at, so an empty 204 is a fault; only a 4xx can carry a
// message to the client.
func (x exchange) judge(types *Types) *qerr.Error {
	value, err := parse(x.response.body)
	if err != nil {
		return x.unexpected("not a valid json response from webhook", "invalid JSON: "+err.Error(), http.StatusInternalServerError)
	}
	status := x.response.status
	switch {
	case status >= 200 && status < 300:
		if fault := types.check(value, x.request.Action.Definition.OutputType); fault != "" {
			return x.unexpected(fault, "unexpected response", http.StatusBadRequest)
		}
		return nil
	case status >= 400 && status < 500:
		return x.refusal(value)
	}
	internal := fmt.Sprintf("expecting 2xx or 4xx status code, but found %d", status)
	return x.unexpected("internal error", internal, http.StatusInternalServerError)
}

// refusal is a 4xx answer: its message, and either its extensions as they are
// or its code.
func (x exchange) refusal(value any) *qerr.Error {
	object, ok := value.(map[string]any)
	if !ok {
		return x.undecodable("expected Object, but encountered " + pgtype.Kind(value))
	}
	raw, ok := object["message"]
	if !ok {
		return x.undecodable(`key "message" not found`)
	}
	message, ok := raw.(string)
	if !ok {
		return x.notText("message", raw)
	}
	e := qerr.New(qerr.Unexpected, message).WithStatus(x.response.status)
	switch code := object["code"].(type) {
	case nil:
	case string:
		e.Code = code
	default:
		return x.notText("code", code)
	}
	if object["extensions"] != nil {
		e.Extensions = member(x.response.body, "extensions")
	}
	return e
}

// member is one member of a JSON object, byte for byte.
func member(object []byte, name string) json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil
	}
	return members[name]
}

func (x exchange) undecodable(why string) *qerr.Error {
	const kind = "Hasura.GraphQL.Execute.Action.Types.ActionWebhookErrorResponse(ActionWebhookErrorResponse)"
	e := x.unexpected(fmt.Sprintf("parsing %s failed, %s", kind, why), "unexpected response", http.StatusBadRequest)
	e.Code = qerr.ParseFailed
	return e
}

func (x exchange) notText(name string, value any) *qerr.Error {
	e := x.unexpected("parsing Text failed, expected String, but encountered "+pgtype.Kind(value), "unexpected response", http.StatusBadRequest)
	e.Code, e.Path = qerr.ParseFailed, "$."+name
	return e
}

// transportFault is a webhook that could not be reached or stayed silent.
func (x exchange) transportFault(cause error) *qerr.Error {
	var about map[string]any
	if u := x.request.Action.Definition.Handler; u != "" {
		about = map[string]any{"url": u, "method": http.MethodPost}
	}
	internal := map[string]any{"type": "http_exception", "message": unwrapped(cause), "request": about}
	return x.unexpected("http exception when calling webhook", internal, http.StatusInternalServerError)
}

// unwrapped leaves out the resolved address, which may hold secrets.
func unwrapped(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}

// unexpected is an error with the internal part that development needs.
func (x exchange) unexpected(message string, cause any, status int) *qerr.Error {
	e := qerr.New(qerr.Unexpected, message).WithStatus(status)
	e.Internal = struct {
		Error    any `json:"error"`
		Request  any `json:"request"`
		Response any `json:"response"`
	}{cause, x.requestInfo(), x.responseInfo()}
	return e
}

func (x exchange) requestInfo() any {
	input := x.request.Input
	if input == nil {
		input = json.RawMessage("{}")
	}
	return struct {
		URL         string          `json:"url"`
		Action      actionName      `json:"action"`
		Input       json.RawMessage `json:"input"`
		Query       string          `json:"request_query"`
		Transformed any             `json:"transformed_request"`
	}{x.request.Action.Definition.Handler, actionName{x.request.Action.Name}, input, x.request.Query, nil}
}

type headerInfo struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (x exchange) responseInfo() any {
	if x.response == nil {
		return nil
	}
	var body any = string(x.response.body)
	if json.Valid(x.response.body) {
		body = json.RawMessage(x.response.body)
	}
	headers := []headerInfo{}
	for name, values := range x.response.header {
		for _, value := range values {
			headers = append(headers, headerInfo{name, value})
		}
	}
	slices.SortFunc(headers, func(a, b headerInfo) int { return strings.Compare(a.Name+a.Value, b.Name+b.Value) })
	return struct {
		Status  int          `json:"status"`
		Body    any          `json:"body"`
		Headers []headerInfo `json:"headers"`
	}{x.response.status, body, headers}
}
