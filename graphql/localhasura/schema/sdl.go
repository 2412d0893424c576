package schema

import (
	"fmt"
	"strings"
)

// SDL prints a schema in GraphQL's definition language, types and members
// sorted by name, for code generators.
func SDL(s *Schema) string {
	p := &printer{}
	p.root(s)
	for _, t := range s.Types() {
		if !builtin[t.Name] && !strings.HasPrefix(t.Name, "__") {
			p.named(t)
		}
	}
	return p.String()
}

type printer struct{ strings.Builder }

func (p *printer) linef(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

func (p *printer) root(s *Schema) {
	p.linef("schema {")
	for _, root := range []struct {
		kind string
		t    *Type
	}{{"query", s.Query}, {"mutation", s.Mutation}, {"subscription", s.Subscription}} {
		if root.t != nil {
			p.linef("  %s: %s", root.kind, root.t.Name)
		}
	}
	p.linef("}")
}

func (p *printer) named(t *Type) {
	p.linef("")
	p.describe(t.Description, "")
	switch t.Kind {
	case Scalar:
		p.linef("scalar %s", t.Name)
	case Enum:
		p.linef("enum %s {", t.Name)
		for _, v := range t.Values {
			p.describe(v.Description, "  ")
			p.linef("  %s%s", v.Name, map[bool]string{true: " @deprecated"}[v.Deprecated])
		}
		p.linef("}")
	case InputObject:
		p.linef("input %s {", t.Name)
		for _, in := range t.Inputs {
			p.describe(in.Description, "  ")
			p.linef("  %s", inputSDL(in))
		}
		p.linef("}")
	default:
		p.linef("type %s {", t.Name)
		for _, f := range t.Fields {
			p.describe(f.Description, "  ")
			p.linef("  %s%s: %s", f.Name, argsSDL(f.Args), f.Type)
		}
		p.linef("}")
	}
}

// describe prints a description as a block string.
func (p *printer) describe(text, indent string) {
	if text == "" {
		return
	}
	text = strings.ReplaceAll(text, `"""`, `\"""`)
	p.linef(`%s"""`, indent)
	for l := range strings.SplitSeq(text, "\n") {
		p.linef("%s", strings.TrimRight(indent+l, " "))
	}
	p.linef(`%s"""`, indent)
}

func inputSDL(in *Input) string {
	s := in.Name + ": " + in.Type.String()
	if in.Default != "" {
		s += " = " + in.Default
	}
	return s
}

func argsSDL(args []*Input) string {
	if len(args) == 0 {
		return ""
	}
	all := make([]string, len(args))
	for i, a := range args {
		all[i] = inputSDL(a)
	}
	return "(" + strings.Join(all, ", ") + ")"
}
