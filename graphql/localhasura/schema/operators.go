package schema

import "hasura-storage/graphql/localhasura/pgtype"

var stringType, _ = pgtype.ByGraphQL("String")

var (
	commonOperators = []string{"_eq", "_neq", "_gt", "_lt", "_gte", "_lte", "_in", "_nin", "_is_null"}
	textOperators   = []string{"_like", "_nlike", "_ilike", "_nilike", "_similar", "_nsimilar", "_regex", "_nregex", "_iregex", "_niregex"}
	jsonbOperators  = []string{"_contains", "_contained_in", "_has_key", "_has_keys_any", "_has_keys_all"}
	columnOperators = setOf([]string{"_ceq", "_cne", "_cneq", "_cgt", "_clt", "_cgte", "_clte"})

	plainSet = setOf(commonOperators)
	textSet  = setOf(commonOperators, textOperators)
	jsonbSet = setOf(commonOperators, jsonbOperators)
)

func setOf(lists ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for _, name := range list {
			set[name] = true
		}
	}
	return set
}

// operatorsOf are the operators that a column type has in boolean expressions.
func operatorsOf(t pgtype.Type) map[string]bool {
	switch {
	case t.Pattern():
		return textSet
	case t.Binary():
		return jsonbSet
	}
	return plainSet
}

// operandRef is the GraphQL type of an operator's operand, and the Postgres
// type by which it is judged (nil: as GraphQL's own).
func operandRef(op string, t pgtype.Type) (*Ref, *pgtype.Type) {
	switch op {
	case "_is_null":
		return Named("Boolean"), nil
	case "_in", "_nin":
		return ListOf(Required(Named(t.GraphQL))), &t
	case "_has_key":
		return Named("String"), nil
	case "_has_keys_any", "_has_keys_all":
		return ListOf(Required(Named("String"))), nil
	}
	return Named(t.GraphQL), &t
}
