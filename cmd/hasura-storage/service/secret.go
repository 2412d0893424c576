package service

import "fmt"

// secret is a text that no formatting verb, encoder or logger prints. It stands
// behind a pointer, since package fmt reads unexported fields past every method.
type secret struct{ text *string }

func newSecret(text string) secret { return secret{&text} }

// Format hides the secret from every verb of package fmt.
func (s secret) Format(state fmt.State, _ rune) { _, _ = state.Write([]byte(s.String())) }

// String says only whether there is one.
func (s secret) String() string {
	if s.missing() {
		return ""
	}
	return "[hidden]"
}

// MarshalText hides the secret from encoders.
func (s secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s secret) missing() bool { return s.text == nil || *s.text == "" }

// reveal is the one way to the text; each use hands it to whom it is for.
func (s secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}
