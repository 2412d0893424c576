package actions

import (
	"mime"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// sniffBytes is how much of a file tells its type (mimetype reads as much).
const sniffBytes = 3072

const octetStream = "application/octet-stream"

// isMediaType reports whether a text can be read as a media type, alike by everybody,
// and sent in a header: what it consists of is printable ASCII.
func isMediaType(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	essence, _, err := mime.ParseMediaType(text)
	return err == nil && strings.Count(essence, "/") == 1
}

// readableType refuses a type that a row may have without any check of ours, such
// as one that was inserted by GraphQL. It is not taken for none: the insert was
// judged by it, and the bytes might show what its check forbids.
func readableType(mimeType *string) error {
	if err := validMimeType(mimeType); err != nil {
		return Errorf(MimeTypeNotAllowed, "the file's mimeType is no media type such as image/jpeg").Because(err)
	}
	return nil
}

// essenceOf returns a media type in lower case without its parameters.
func essenceOf(mimeType string) string {
	essence, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return strings.ToLower(strings.TrimSpace(mimeType))
	}
	return essence
}

// sniffed returns the media type that the first bytes of a file show.
func sniffed(head []byte) string {
	if len(head) == 0 {
		return octetStream
	}
	return essenceOf(mimetype.Detect(head).String())
}

// typeOf returns the media type of a file that nobody vouches for, parameters
// included. Bytes decide; only where they are text without a mark of its own,
// the client or the name may say of which kind, as long as no browser runs it.
func typeOf(head []byte, declared, name string) string {
	if len(head) == 0 {
		return octetStream
	}
	found := mimetype.Detect(head).String()
	essence, charset, ok := strings.Cut(found, ";")
	if essence != "text/plain" {
		return found
	}
	for _, kind := range []string{essenceOf(declared), plainKinds[strings.ToLower(path.Ext(name))]} {
		if kind != "" && kind != essence && family(kind) == text && !runsInABrowser(kind) {
			if ok {
				kind += ";" + charset
			}
			return kind
		}
	}
	return found
}

// plainKinds are kinds of text that only their names tell apart.
var plainKinds = map[string]string{
	".css": "text/css", ".csv": "text/csv", ".json": "application/json", ".md": "text/markdown", ".toml": "application/toml",
	".tsv": "text/tab-separated-values", ".yaml": "application/yaml", ".yml": "application/yaml",
}

// contradicts reports whether the first bytes show a type of another family
// than the declared one. Sniffing can only contradict: what has no mark of its
// own (text, zip, unknown bytes) never proves a more special type.
func contradicts(declared string, head []byte) bool {
	if len(head) == 0 {
		return false
	}
	want, got := family(essenceOf(declared)), detectedFamily(head)
	switch {
	case want == anything || want == got:
		return false
	case got == anything:
		return marked[want] // a picture without the mark of one is none
	default:
		return true
	}
}

// The families that bytes can tell apart. Within one, a declared type stands.
const (
	anything = ""
	pictures = "image"
	media    = "media" // sound and film share containers
	text     = "text"
	zip      = "zip" // office documents, books and packages are zips
	font     = "font"
)

// marked are the families whose files all begin with a known mark.
var marked = map[string]bool{pictures: true, zip: true, "application/pdf": true, "application/gzip": true}

var textTypes = map[string]bool{
	"application/json": true, "application/xml": true, "application/javascript": true,
	"application/x-javascript": true, "application/ecmascript": true, "application/yaml": true,
	"application/x-yaml": true, "application/x-sh": true, "application/sql": true,
	"application/rtf": true, "application/x-ndjson": true, "application/toml": true,
	"application/x-subrip": true, "application/xhtml+xml": true, "image/svg+xml": true,
}

// family returns the family of a declared type; types we know no mark of accept anything.
func family(essence string) string {
	top, _, _ := strings.Cut(essence, "/")
	switch {
	case textTypes[essence], top == "text", strings.HasSuffix(essence, "+json"), strings.HasSuffix(essence, "+xml"):
		return text
	case top == "image":
		return pictures
	case top == "audio", top == "video", essence == "application/ogg":
		return media
	case top == "font":
		return font
	case essence == "application/pdf", essence == "application/gzip":
		return essence
	case strings.HasSuffix(essence, "zip"), strings.Contains(essence, "openxmlformats"), strings.Contains(essence, "opendocument"):
		return zip
	}
	return anything
}

// detectedFamily walks from the detected type up to a family, e.g. docx → zip.
func detectedFamily(head []byte) string {
	for t := mimetype.Detect(head); t != nil; t = t.Parent() {
		essence := essenceOf(t.String())
		if essence == octetStream {
			return anything
		}
		if f := family(essence); f != anything {
			return f
		}
		if t.Parent() == nil || essenceOf(t.Parent().String()) == octetStream {
			return essence // a mark of its own, such as that of an executable
		}
	}
	return anything
}

// runsInABrowser reports whether a browser would run what it is given: a link to
// the store makes such files attachments. Where a type says nothing to a browser,
// it looks at the bytes for one, and finds HTML. The list is short, since what is
// on it is not shown any more; handlers' needsSandbox may be generous, since a
// sandbox takes nothing away but scripts.
func runsInABrowser(mimeType string) bool {
	if !isMediaType(mimeType) {
		return true
	}
	essence := essenceOf(mimeType)
	switch essence {
	case "text/html", "text/xml", "text/xsl", "text/rdf", "application/xml",
		"text/javascript", "application/javascript", "application/x-shockwave-flash",
		"unknown/unknown", "application/unknown", // https://mimesniff.spec.whatwg.org/#mime-type-sniffing-algorithm
		"application/x-unknown-content-type", "application/x-vnd.mozilla.guess-from-ext": // Firefox
		return true
	}
	return strings.HasSuffix(essence, "+xml") || strings.HasPrefix(essence, "multipart/") || strings.Contains(essence, "*")
}
