package schema

import "hasura-storage/graphql/localhasura/metadata"

// The meanings of fields. A column's field has its *Column as the node.
type (
	// SelectRoot lists rows of a table, or, with ByPK, looks one up.
	SelectRoot struct {
		View *View
		ByPK bool
	}
	// AggregateRoot aggregates over a table.
	AggregateRoot struct{ View *View }
	// RelationField follows a relationship; Aggregate is its _aggregate form.
	RelationField struct {
		Relation  *Relation
		View      *View // of the related table
		Aggregate bool
	}
	// AggregateValues and AggregateNodes are the two fields of an aggregate.
	AggregateValues struct{ View *View }
	// AggregateNodes lists the rows aggregated over.
	AggregateNodes struct{ View *View }
	// Count is the aggregate field count.
	Count struct{ View *View }
	// AggregateOp is a group such as sum or max; its fields are columns.
	AggregateOp struct {
		View *View
		Op   string
	}
	// InsertRoot inserts rows, or one.
	InsertRoot struct {
		View *View
		One  bool
	}
	// UpdateRoot updates rows; ByPK one; Batch several updates in order.
	UpdateRoot struct {
		View        *View
		ByPK, Batch bool
	}
	// DeleteRoot deletes rows, or one.
	DeleteRoot struct {
		View *View
		ByPK bool
	}
	// AffectedRows and Returning are the fields of a mutation response.
	AffectedRows struct{}
	// Returning lists the rows that a mutation touched.
	Returning struct{ View *View }
	// ActionRoot calls an action.
	ActionRoot struct{ Action *metadata.Action }
	// ActionValue is a member of an action's answer.
	ActionValue struct{}
	// ActionRelation leads from an action's answer to a table. Join's local
	// columns stand for members of the answer: Members names them in order.
	ActionRelation struct {
		View      *View
		Array     bool
		Aggregate bool
		Members   []string
		Columns   []*Column
	}
)

// The meanings of input fields beside *Column.
type (
	// RelatedInput follows a relationship in a where, an order or an insert.
	RelatedInput struct {
		Relation *Relation
		View     *View
	}
	// RelatedAggregate aggregates related rows in a where or an order.
	RelatedAggregate struct {
		Relation *Relation
		View     *View
	}
)
