package schema

// IntrospectionRoot is the meaning of __schema and __type; package introspect
// answers them.
type IntrospectionRoot struct{}

// Directive is a directive that requests may use.
type Directive struct {
	Name        string
	Description string
	Locations   []string
	Args        []*Input
}

// Directives lists the directives of every schema.
func Directives() []*Directive { return directives }

var directives = []*Directive{
	{Name: "cached", Description: "whether this query should be cached (Hasura Cloud only)", Locations: []string{"QUERY"}, Args: []*Input{
		{Name: "refresh", Description: "refresh the cache entry", Type: Required(Named("Boolean")), Default: "false"},
		{Name: "ttl", Description: "measured in seconds", Type: Required(Named("Int")), Default: "60"},
	}},
	{Name: "include", Description: "whether this field should be included in the response", Locations: []string{"FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"},
		Args: []*Input{{Name: "if", Type: Required(Named("Boolean"))}}},
	{Name: "skip", Description: "whether this field should be skipped in the response", Locations: []string{"FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"},
		Args: []*Input{{Name: "if", Type: Required(Named("Boolean"))}}},
}

// IntrospectionField finds __schema and __type; nil for any other name.
func IntrospectionField(name string) *Field { return introspectionRoots[name] }

var introspectionRoots = map[string]*Field{
	"__schema": {Name: "__schema", Type: Required(Named("__Schema")), Node: IntrospectionRoot{}},
	"__type": {Name: "__type", Type: Named("__Type"), Node: IntrospectionRoot{},
		Args: []*Input{{Name: "name", Type: Required(Named("String"))}}},
}

// introspectionFields are the types that describe a schema: type, field and
// what the field answers.
var introspectionFields = map[string]map[string]string{
	"__Schema": {"description": "String", "directives": "[__Directive!]!", "mutationType": "__Type", "queryType": "__Type!",
		"subscriptionType": "__Type", "types": "[__Type!]!"},
	"__Type": {"description": "String", "enumValues": "[__EnumValue!]", "fields": "[__Field!]", "inputFields": "[__InputValue!]",
		"interfaces": "[__Type!]", "kind": "__TypeKind!", "name": "String", "ofType": "__Type", "possibleTypes": "[__Type!]",
		"specifiedByURL": "String"},
	"__Field": {"args": "[__InputValue!]!", "deprecationReason": "String", "description": "String", "isDeprecated": "Boolean!",
		"name": "String!", "type": "__Type!"},
	"__InputValue": {"defaultValue": "String", "deprecationReason": "String", "description": "String", "isDeprecated": "Boolean!", "name": "String!", "type": "__Type!"},
	"__EnumValue":  {"deprecationReason": "String", "description": "String", "isDeprecated": "Boolean!", "name": "String!"},
	"__Directive": {"args": "[__InputValue!]!", "description": "String", "isRepeatable": "Boolean!", "locations": "[__DirectiveLocation!]!",
		"name": "String!"},
}

var introspectionEnums = map[string][]string{
	"__TypeKind":          {"ENUM", "INPUT_OBJECT", "INTERFACE", "LIST", "NON_NULL", "OBJECT", "SCALAR", "UNION"},
	"__DirectiveLocation": {"FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT", "MUTATION", "QUERY", "SUBSCRIPTION"},
}

func (b *builder) introspectionTypes() {
	for name, fields := range introspectionFields {
		b.once(name, func() *Type {
			t := &Type{Kind: Object}
			for field, ref := range fields {
				f := &Field{Name: field, Type: parseRef(ref)}
				if field == "fields" || field == "enumValues" {
					f.Args = []*Input{{Name: "includeDeprecated", Type: Named("Boolean"), Default: "false"}}
				}
				t.Fields = append(t.Fields, f)
			}
			return t
		})
	}
	for name, values := range introspectionEnums {
		b.once(name, func() *Type {
			t := &Type{Kind: Enum}
			for _, v := range values {
				t.Values = append(t.Values, &Value{Name: v})
			}
			return t
		})
	}
}
