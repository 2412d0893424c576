package api

import (
	"encoding/json"
	"errors"

	"hasura-storage/graphql/localhasura/metadata"
	"hasura-storage/graphql/localhasura/qerr"
)

func exportMetadata(w *work, _ json.RawMessage) (any, *qerr.Error) {
	raw, err := w.draft.Export()
	if err != nil {
		return nil, qerr.Internalf(err, "internal error")
	}
	if w.request.Version != 2 {
		return raw, nil
	}
	return struct {
		Version  int             `json:"resource_version"`
		Metadata json.RawMessage `json:"metadata"`
	}{w.backend.Current().Version, raw}, nil
}

// replaceMetadata takes the metadata itself, or an object with a member
// "metadata", which is version 2 whatever the request's version says.
func replaceMetadata(w *work, raw json.RawMessage) (any, *qerr.Error) {
	var v2 struct {
		Metadata json.RawMessage `json:"metadata"`
		Allow    bool            `json:"allow_inconsistent_metadata"`
	}
	if err := args(raw, &v2); err != nil {
		return nil, err
	}
	text := v2.Metadata
	if text == nil {
		text = raw
	}
	m, err := parseMetadata(text)
	if err != nil {
		return nil, err
	}
	bad, fault := w.backend.Check(w.ctx, m, w.db)
	if fault != nil {
		return nil, qerr.Internalf(fault, "internal error")
	}
	if len(bad) > 0 && !v2.Allow {
		e := failf(qerr.Unexpected, "cannot continue due to inconsistent metadata")
		e.Internal = bad
		return nil, e
	}
	w.draft, w.bad, w.changed = m, bad, true
	if v2.Metadata == nil {
		return success, nil
	}
	return consistency{len(bad) == 0, list(bad)}, nil
}

func parseMetadata(raw json.RawMessage) (*metadata.Metadata, *qerr.Error) {
	m, fault := metadata.Parse(raw)
	if known, ok := errors.AsType[*qerr.Error](fault); ok {
		return nil, known.At("$.args" + known.Path[1:])
	}
	if fault != nil {
		return nil, failf(qerr.ParseFailed, "%s", fault)
	}
	if err := m.Unsupported(); err != nil {
		return nil, err.At("$.args")
	}
	for i := range m.Actions {
		if err := metadata.CheckHeaders(m.Actions[i].Definition.Headers, "$.definition.headers"); err != nil {
			return nil, err
		}
	}
	return m, nil
}

type consistency struct {
	Consistent bool                          `json:"is_consistent"`
	Objects    []metadata.InconsistentObject `json:"inconsistent_objects"`
}

// list makes JSON's [] of nothing.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func clearMetadata(w *work, _ json.RawMessage) (any, *qerr.Error) {
	w.draft, w.bad, w.changed = &metadata.Metadata{Version: 3}, nil, true
	return success, nil
}

// reloadMetadata reads the database's schema anew.
func reloadMetadata(w *work, _ json.RawMessage) (any, *qerr.Error) {
	bad, err := w.backend.Check(w.ctx, w.draft, w.db)
	if err != nil {
		return nil, qerr.Internalf(err, "internal error")
	}
	w.bad, w.changed = bad, true
	answer := map[string]any{"message": "success", "is_consistent": len(bad) == 0}
	if len(bad) > 0 {
		answer["inconsistent_objects"] = bad
	}
	return answer, nil
}

func getInconsistent(w *work, _ json.RawMessage) (any, *qerr.Error) {
	return consistency{len(w.bad) == 0, list(w.bad)}, nil
}

// dropInconsistent removes what cannot be used. What depended on it becomes
// inconsistent in turn, so it goes on until nothing is left.
func dropInconsistent(w *work, _ json.RawMessage) (any, *qerr.Error) {
	for len(w.bad) > 0 {
		before := len(w.bad)
		names := namesOf(w.bad)
		m, bad, err := w.try(func(m *metadata.Metadata) { purge(m, names) })
		if err != nil {
			return nil, err
		}
		w.draft, w.bad, w.changed = m, bad, true
		if len(bad) >= before {
			e := failf(qerr.Unexpected, "cannot continue due to new inconsistent metadata")
			e.Internal = bad
			return nil, e
		}
	}
	return success, nil
}
