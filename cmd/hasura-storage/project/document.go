package project

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// document is an object of Hasura's metadata. It stays as loose as it comes,
// so that members of other versions of Hasura survive.
type document map[string]any

// decode reads JSON. Numbers keep their digits.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// plain gives a value that was read from YAML or made here the types that
// decode makes.
func plain(v any) (document, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var d document
	return d, decode(raw, &d)
}

func (d document) text(key string) string {
	s, _ := d[key].(string)
	return s
}

// sub is the object at key, nil if there is none.
func (d document) sub(key string) document {
	switch v := d[key].(type) {
	case document:
		return v
	case map[string]any:
		return v
	}
	return nil
}

// list is the objects in the list at key.
func (d document) list(key string) []document {
	items, _ := d[key].([]any)
	found := make([]document, 0, len(items))
	for _, item := range items {
		switch v := item.(type) {
		case document:
			found = append(found, v)
		case map[string]any:
			found = append(found, v)
		}
	}
	return found
}

// with is a copy of d with further members.
func (d document) with(members document) document {
	c := maps.Clone(d)
	if c == nil {
		c = document{}
	}
	maps.Copy(c, members)
	return c
}

// only is a copy of d with these members alone.
func (d document) only(keys ...string) document {
	c := document{}
	for _, key := range keys {
		if v, ok := d[key]; ok {
			c[key] = v
		}
	}
	return c
}

// named finds the object whose member "name" is name.
func named(list []document, name string) (document, bool) {
	i := slices.IndexFunc(list, func(d document) bool { return d.text("name") == name })
	if i < 0 {
		return nil, false
	}
	return list[i], true
}

// covers reports whether have says all that want says. Hasura adds members
// that are null, false or empty, and may leave out such of ours.
func covers(have, want any) bool {
	switch w := want.(type) {
	case document:
		return coversMembers(have, w)
	case map[string]any:
		return coversMembers(have, w)
	case []any:
		h, _ := have.([]any)
		return slices.EqualFunc(h, w, covers)
	case nil:
		return true
	case bool:
		h, _ := have.(bool)
		return h == w
	}
	return have == want || want == "" && have == nil
}

func coversMembers(have any, want map[string]any) bool {
	h := document{"it": have}.sub("it")
	for key, w := range want {
		if !covers(h[key], w) {
			return false
		}
	}
	return true
}
