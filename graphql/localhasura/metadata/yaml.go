package metadata

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth stops includes and anchors that lead back to themselves.
const maxDepth = 64

// reader turns YAML files into JSON, follows !include, and keeps the order
// of keys, which boolean expressions and order_by need.
type reader struct{ files fs.FS }

// file reads one file as JSON; nil when it is missing or empty.
func (r reader) file(name string, depth int) (json.RawMessage, error) {
	raw, err := fs.ReadFile(r.files, name)
	if errors.Is(err, fs.ErrNotExist) && depth == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("metadata: %s: %w", name, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	if err := r.node(&out, doc.Content[0], path.Dir(name), depth); err != nil {
		return nil, fmt.Errorf("metadata: %s: %w", name, err)
	}
	return out.Bytes(), nil
}

func (r reader) node(out *bytes.Buffer, n *yaml.Node, dir string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("line %d: more than %d levels: an include or anchor leads back to itself", n.Line, maxDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.node(out, n.Alias, dir, depth+1)
	case yaml.SequenceNode:
		return r.list(out, n, dir, depth)
	case yaml.MappingNode:
		return r.object(out, n, dir, depth)
	default:
		if name, ok := include(n); ok {
			return r.include(out, path.Join(dir, name), depth+1)
		}
		return scalar(out, n)
	}
}

func (r reader) list(out *bytes.Buffer, n *yaml.Node, dir string, depth int) error {
	out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := r.node(out, item, dir, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

func (r reader) object(out *bytes.Buffer, n *yaml.Node, dir string, depth int) error {
	out.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		if i > 0 {
			out.WriteByte(',')
		}
		if n.Content[i].Tag == "!!merge" {
			return fmt.Errorf("line %d: merge keys (<<) are not supported", n.Content[i].Line)
		}
		key, err := json.Marshal(n.Content[i].Value)
		if err != nil {
			return err
		}
		out.Write(key)
		out.WriteByte(':')
		if err := r.node(out, n.Content[i+1], dir, depth+1); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// include recognises both forms: the tag !include and the quoted string that
// the CLI writes.
func include(n *yaml.Node) (string, bool) {
	if n.Tag == "!include" {
		return n.Value, true
	}
	name, ok := strings.CutPrefix(n.Value, "!include ")
	return strings.TrimSpace(name), ok && n.Tag == "!!str"
}

func (r reader) include(out *bytes.Buffer, name string, depth int) error {
	raw, err := r.file(name, depth)
	if err != nil {
		return err
	}
	if raw == nil {
		raw = json.RawMessage("[]") // the CLI leaves empty lists as empty files
	}
	out.Write(raw)
	return nil
}

func scalar(out *bytes.Buffer, n *yaml.Node) error {
	var value any
	switch n.ShortTag() {
	case "!!null", "!!bool", "!!int":
		if err := n.Decode(&value); err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
	case "!!float":
		var f float64
		if err := n.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return fmt.Errorf("line %d: %q is no JSON number", n.Line, n.Value)
		}
		value = f
	default: // strings, and times, which JSON has as strings
		value = n.Value
	}
	raw, err := json.Marshal(value)
	out.Write(raw)
	return err
}
