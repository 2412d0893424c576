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

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

func (p *printer) root(s *Schema) {
	p.line("schema {")
	for _, root := range []struct {
		kind string
		t    *Type
	}{{"query", s.Query}, {"mutation", s.Mutation}, {"subscription", s.Subscription}} {
		if root.t != nil {
			p.line("  %s: %s", root.kind, root.t.Name)
		}
	}
	p.line("}")
}

func (p *printer) named(t *Type) {
	p.line("")
	p.describe(t.Description, "")
	switch t.Kind {
	case Scalar:
		p.line("scalar %s", t.Name)
	case Enum:
		p.line("enum %s {", t.Name)
		for _, v := range t.Values {
			p.describe(v.Description, "  ")
			p.line("  %s%s", v.Name, map[bool]string{true: " @deprecated"}[v.Deprecated])
		}
		p.line("}")
	case InputObject:
		p.line("input %s {", t.Name)
		for _, in := range t.Inputs {
			p.describe(in.Description, "  ")
			p.line("  %s", inputSDL(in))
		}
		p.line("}")
	default:
		p.line("type %s {", t.Name)
		for _, f := range t.Fields {
			p.describe(f.Description, "  ")
			p.line("  %s%s: %s", f.Name, argsSDL(f.Args), f.Type)
		}
		p.line("}")
	}
}

// describe prints a description as a block string.
func (p *printer) describe(text, indent string) {
	if text == "" {
		return
	}
	text = strings.ReplaceAll(text, `"""`, `\"""`)
	p.line(`%s"""`, indent)
	for _, l := range strings.Split(text, "\n") {
		p.line("%s", strings.TrimRight(indent+l, " "))
	}
	p.line(`%s"""`, indent)
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
