package metadata

// InconsistentObject is a part of the metadata that cannot be used, in the
// form of get_inconsistent_metadata. The rest works without it.
type InconsistentObject struct {
	Definition any    `json:"definition"`
	Name       string `json:"name"`
	Reason     string `json:"reason"` // starts with "Inconsistent object: "
	Type       string `json:"type"`   // table, action, event_trigger, …
	Message    any    `json:"message,omitempty"`
}

// Inconsistent makes an InconsistentObject; reason is worded without Hasura's
// prefix.
func Inconsistent(kind, name, reason string, definition any) InconsistentObject {
	return InconsistentObject{
		Definition: definition,
		Name:       name,
		Reason:     "Inconsistent object: " + reason,
		Type:       kind,
	}
}
