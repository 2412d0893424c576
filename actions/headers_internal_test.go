package actions

import (
	"mime"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"hasura-storage/actions/images"
)

func TestFormatsAreNegotiated(t *testing.T) {
	tests := map[string]struct {
		accept string
		want   images.Format
	}{
		"a browser that shows both":        {"text/html, image/avif, image/webp, */*;q=0.8", images.AVIF},
		"one that shows the older":         {"image/webp,*/*", images.WebP},
		"one that says nothing":            {"", images.Same},
		"one that takes anything":          {"*/*", images.Same},
		"any picture names none":           {"image/*", images.Same},
		"the older is liked better":        {"image/avif;q=0.5, image/webp;q=0.9", images.WebP},
		"one is refused":                   {"image/avif;q=0, image/webp", images.WebP},
		"blanks and capitals":              {"  IMAGE/WebP ; Q=1.0 ", images.WebP},
		"a weight that is none":            {"image/avif;q=often", images.Same},
		"a weight beyond one":              {"image/avif;q=7", images.Same},
		"several lines, joined by a comma": {"text/html,image/avif", images.AVIF},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := negotiated(test.accept, offered); got != test.want {
				t.Errorf("%q gives %q, want %q", test.accept, got, test.want)
			}
		})
	}
}

func TestLargePicturesAreNoAVIF(t *testing.T) {
	const both = "image/avif, image/webp;q=0.5"
	for name, test := range map[string]struct {
		accept string
		spec   images.Spec
		want   images.Format
	}{
		"a small one":              {both, images.Spec{Width: 600}, images.AVIF},
		"the largest":              {both, images.Spec{Width: 1000}, images.AVIF},
		"wider":                    {both, images.Spec{Width: 1001}, images.WebP},
		"by its height":            {both, images.Spec{Height: 1001}, images.WebP},
		"wide and low":             {both, images.Spec{Width: 2000, Height: 500}, images.AVIF},
		"of twice the pixels":      {both, images.Spec{Width: 501, DPR: 2}, images.WebP},
		"as large as it is":        {both, images.Spec{}, images.WebP},
		"for whom only AVIF suits": {"image/avif", images.Spec{Width: 1001}, images.Same},
	} {
		if got := automatic(test.accept, test.spec); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// FuzzAccept checks that only what the header names, and does not refuse, is chosen.
func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"image/avif,image/webp;q=0.5", "image/webp;q=0", `image/avif;a="b,c"`, ",;,", "image/avif;q=NaN"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		got := negotiated(accept, offered)
		if got != images.Same && !strings.Contains(strings.ToLower(accept), got.ContentType()) {
			t.Fatalf("%q gives %q", accept, got)
		}
		if refused := regexp.MustCompile(`(?i)^image/(avif|webp) ?; ?q=0(\.0{0,3})?$`); refused.MatchString(accept) && got != images.Same {
			t.Fatalf("%q refuses and gets %q", accept, got)
		}
	})
}

// FuzzContentDisposition checks by a parser of its own that a name arrives as it
// was given, in one line of ASCII.
func FuzzContentDisposition(f *testing.F) {
	for _, seed := range []string{"a.txt", "John's (1) ä.pdf", "a\r\nX: y\".txt", `back\slash`, "100%.txt", "\u65e5\u672c.jpg", "; filename=x", "", "\x01\x1f\x7f\u0085\u202e.txt", strings.Repeat("ä", 600) + "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
			t.Skip() // no row has such a name
		}
		header := contentDisposition("attachment", name)
		for _, c := range []byte(header) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q gives %q", name, header)
			}
		}
		kind, parameters, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" {
			t.Fatalf("%q gives %q: %v", name, header, err)
		}
		if got := parameters["filename"]; got != strings.ToValidUTF8(name[:min(len(name), maxNameBytes)], "") {
			t.Fatalf("%q arrives as %q by %q", name, got, header)
		}
	})
}

func TestTypesOfUploads(t *testing.T) {
	tests := map[string]struct{ head, declared, name, want string }{
		"a page that was called a picture":    {"<html><body>", "image/png", "a.png", "text/html; charset=utf-8"},
		"a style sheet, by its declaration":   {"a { color: red }", "text/css", "x", "text/css; charset=utf-8"},
		"a style sheet, by its name":          {"a { color: red }", "application/octet-stream", "x.CSS", "text/css; charset=utf-8"},
		"a script is text":                    {"alert(1)", "text/javascript", "x.js", "text/plain; charset=utf-8"},
		"text that is called a page":          {"just words", "text/html", "x.html", "text/plain; charset=utf-8"},
		"text that is called a picture":       {"just words", "image/svg+xml", "x.svg", "text/plain; charset=utf-8"},
		"bytes of which nobody knows":         {"\x00\x01\x02", "image/png", "x.png", octetStream},
		"a picture, whatever it is called":    {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "text/html", "x.html", "image/png"},
		"a document with a picture's name":    {"%PDF-1.7\n", "image/png", "x.png", "application/pdf"},
		"nothing":                             {"", "image/png", "x.png", octetStream},
		"numbers in columns":                  {"a;b\n1;2\n", "text/csv; charset=latin1", "x", "text/csv; charset=utf-8"},
		"a drawing, which browsers would run": {`<svg xmlns="http://www.w3.org/2000/svg"/>`, "image/png", "x.png", "image/svg+xml"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := typeOf([]byte(test.head), test.declared, test.name); got != test.want {
				t.Errorf("type is %q, want %q", got, test.want)
			}
		})
	}
}

func TestPrivateAnswers(t *testing.T) {
	for policy, want := range map[string]string{
		"":                               "private",
		"max-age=3600":                   "private, max-age=3600",
		"public, max-age=60, S-MaxAge=9": "private, max-age=60",
		"no-store":                       "private, no-store",
		"private, max-age=1":             "private, max-age=1",
		"max-age=5, immutable":           "private, max-age=5, immutable",
	} {
		if got := private(policy); got != want {
			t.Errorf("%q becomes %q, want %q", policy, got, want)
		}
	}
}
