// Package pgtype knows Postgres's column types as far as the local Hasura
// speaks of them: their GraphQL scalar names, which JSON a column accepts, and
// the one text form in which a value is stored in SQLite, so that comparing
// stored texts compares values.
package pgtype

import (
	"strconv"
	"strings"
)

// Class groups types that are read, stored and compared alike.
type Class int

// The classes of column types.
const (
	Text Class = iota
	Integer
	Float
	Numeric
	Boolean
	UUID
	JSON
	TimestampTZ
	Timestamp
	Date
	Time
)

// Type is a Postgres column type.
type Type struct {
	Name    string // as Postgres's messages print it, e.g. "timestamp with time zone"
	GraphQL string // the scalar's name in the GraphQL schema, e.g. "timestamptz"
	Class   Class
	Bits    int // of an Integer: 16, 32 or 64
	// Size is what stands in parentheses: the most characters of a Text, the
	// digits of a Numeric. 0 = no limit.
	Size int
	// Scale is how many of a Numeric's digits stand behind the point.
	Scale int
}

var (
	smallint    = Type{Name: "smallint", GraphQL: "smallint", Class: Integer, Bits: 16}
	integer     = Type{Name: "integer", GraphQL: "Int", Class: Integer, Bits: 32}
	bigint      = Type{Name: "bigint", GraphQL: "bigint", Class: Integer, Bits: 64}
	float4      = Type{Name: "real", GraphQL: "Float", Class: Float}
	float8      = Type{Name: "double precision", GraphQL: "float8", Class: Float}
	numeric     = Type{Name: "numeric", GraphQL: "numeric", Class: Numeric}
	text        = Type{Name: "text", GraphQL: "String", Class: Text}
	varchar     = Type{Name: "character varying", GraphQL: "String", Class: Text}
	bpchar      = Type{Name: "character", GraphQL: "bpchar", Class: Text}
	citext      = Type{Name: "citext", GraphQL: "citext", Class: Text}
	boolean     = Type{Name: "boolean", GraphQL: "Boolean", Class: Boolean}
	uuidType    = Type{Name: "uuid", GraphQL: "uuid", Class: UUID}
	jsonType    = Type{Name: "json", GraphQL: "json", Class: JSON}
	jsonb       = Type{Name: "jsonb", GraphQL: "jsonb", Class: JSON}
	timestamptz = Type{Name: "timestamp with time zone", GraphQL: "timestamptz", Class: TimestampTZ}
	timestamp   = Type{Name: "timestamp", GraphQL: "timestamp", Class: Timestamp}
	date        = Type{Name: "date", GraphQL: "date", Class: Date}
	timeType    = Type{Name: "time", GraphQL: "time", Class: Time}
)

var declared = map[string]Type{
	"smallint": smallint, "int2": smallint,
	"integer": integer, "int": integer, "int4": integer,
	"bigint": bigint, "int8": bigint,
	"real": float4, "float4": float4,
	"double precision": float8, "float8": float8, "float": float8,
	"numeric": numeric, "decimal": numeric,
	"text": text, "varchar": varchar, "character varying": varchar, "name": text,
	"char": bpchar, "character": bpchar, "bpchar": bpchar, "citext": citext,
	"boolean": boolean, "bool": boolean,
	"uuid": uuidType, "json": jsonType, "jsonb": jsonb,
	"timestamptz": timestamptz, "timestamp with time zone": timestamptz,
	"timestamp": timestamp, "timestamp without time zone": timestamp,
	"date": date, "time": timeType, "time without time zone": timeType,
}

// Parse finds the type that a column was declared with, for example
// "varchar(20)" or "TIMESTAMPTZ"; ok is false for one that is not known here.
func Parse(declaration string) (t Type, ok bool) {
	name, rest, _ := strings.Cut(strings.ToLower(declaration), "(")
	modifier, behind, _ := strings.Cut(rest, ")")
	t, ok = declared[strings.Join(strings.Fields(name+" "+behind), " ")]
	if !ok || t.Class != Text && t.Class != Numeric {
		return t, ok
	}
	size, scale, _ := strings.Cut(modifier, ",")
	t.Size, _ = strconv.Atoi(strings.TrimSpace(size)) // no number = no limit
	t.Scale, _ = strconv.Atoi(strings.TrimSpace(scale))
	return t, ok
}

// ByGraphQL finds a type by the name of its GraphQL scalar.
func ByGraphQL(scalar string) (t Type, ok bool) {
	t, ok = scalars[scalar]
	return t, ok
}

var scalars = map[string]Type{
	"Int": integer, "smallint": smallint, "bigint": bigint, "Float": float4, "float8": float8,
	"numeric": numeric, "String": text, "bpchar": bpchar, "citext": citext, "Boolean": boolean,
	"uuid": uuidType, "json": jsonType, "jsonb": jsonb, "timestamptz": timestamptz,
	"timestamp": timestamp, "date": date, "time": timeType,
}

// Unlimited is the type as comparisons know it: a length or scale binds only
// what is stored.
func (t Type) Unlimited() Type {
	t.Size, t.Scale = 0, 0
	return t
}

// Numeric reports whether sums, averages and increments make sense.
func (t Type) Numeric() bool {
	return t.Class == Integer || t.Class == Float || t.Class == Numeric
}

// Comparable reports whether min and max exist for the type.
func (t Type) Comparable() bool {
	return t.Class != JSON && t.Class != Boolean
}

// Pattern reports whether the type has the LIKE and regex operators.
func (t Type) Pattern() bool { return t.Class == Text }

// Binary reports whether the type is jsonb, which has operators that json lacks.
func (t Type) Binary() bool { return t.GraphQL == "jsonb" }
