package actions

import (
	"mime"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestALinkIsRefusedOnceAnythingChanges(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	old, fresh := []byte("old key, 32 bytes long, at least"), []byte("new key, 32 bytes long, at least")
	l := links{base: "https://files.example.com/v1", keys: [][]byte{fresh, old}}
	signed := l.sign(link{id: someFile, version: "v1", spec: "i1_w600", expires: now.Add(time.Minute)})
	path, query := takenApart(t, signed)

	verify := func(l links, id, path string, change func(url.Values), at time.Time) error {
		q := url.Values{}
		for k, v := range query {
			q[k] = v
		}
		if change != nil {
			change(q)
		}
		_, err := l.verify(id, path, q, at)
		return err
	}
	if err := verify(l, someFile, path, nil, now); err != nil {
		t.Fatalf("the link itself: %v", err)
	}
	rotated := links{base: l.base, keys: [][]byte{[]byte("another, newer one"), fresh}}
	if err := verify(rotated, someFile, path, nil, now); err != nil {
		t.Errorf("after its key has become the second: %v", err)
	}
	for name, err := range map[string]error{
		"another file":       verify(l, strings.Replace(someFile, "6", "7", 1), path, nil, now),
		"another version":    verify(l, someFile, "v2/i1_w600", nil, now),
		"another size":       verify(l, someFile, "v1/i1_w6000", nil, now),
		"one more parameter": verify(l, someFile, path, func(q url.Values) { q.Set("f", "auto") }, now),
		"a later expiry":     verify(l, someFile, path, func(q url.Values) { q.Set("e", "9999999999") }, now),
		"two expiries":       verify(l, someFile, path, func(q url.Values) { q.Add("e", "9999999999") }, now),
		"two signatures":     verify(l, someFile, path, func(q url.Values) { q.Add("s", "x") }, now),
		"no signature":       verify(l, someFile, path, func(q url.Values) { q.Del("s") }, now),
		"no expiry":          verify(l, someFile, path, func(q url.Values) { q.Del("e") }, now),
		"a second too late":  verify(l, someFile, path, nil, now.Add(time.Minute)),
		"a key given up":     verify(links{keys: [][]byte{old}}, someFile, path, nil, now),
	} {
		if !has(err, NotAllowed) {
			t.Errorf("%s: got %v, want not-allowed", name, err)
		}
	}
}

func takenApart(t *testing.T, signed string) (path string, query url.Values) {
	t.Helper()
	u, err := url.Parse(signed)
	if err != nil {
		t.Fatal(err)
	}
	_, path, ok := strings.Cut(u.Path, "/files/"+someFile+"/signed/")
	if !ok {
		t.Fatalf("unexpected link %s", signed)
	}
	return path, u.Query()
}

func TestCallersShareALinkAndItNeverOutlivesWhatWasAsked(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a, b := rounded(now, time.Hour), rounded(now.Add(time.Minute), time.Hour)
	if !a.Equal(b) {
		t.Errorf("a minute apart the expiries are %s and %s", a, b)
	}
	for _, life := range []time.Duration{time.Second, 30 * time.Second, time.Hour, 7 * 24 * time.Hour} {
		left := rounded(now, life).Sub(now)
		if left > life || left < life*7/8-time.Second {
			t.Errorf("a link for %s lives %s", life, left)
		}
	}
}

func TestContentDispositionIsReadBackAsSent(t *testing.T) {
	for _, name := range []string{
		"plain.txt", "John's (1) ä.pdf", `quo"te\.txt`, "a\r\nX: y\".txt", "100%.png", "日本語.jpg", "semi;colon=.txt", "über 🎞.mov",
	} {
		header := contentDisposition("attachment", name)
		if strings.ContainsAny(header, "\r\n") || strings.HasSuffix(header, ";") {
			t.Errorf("%q is no header line", header)
		}
		kind, parameters, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || parameters["filename"] != name {
			t.Errorf("%q: read back as %q (%v) from %s", name, parameters["filename"], err, header)
		}
	}
}

func TestAutoTakesTheBestNamedFormat(t *testing.T) {
	for accept, want := range map[string]string{
		"image/avif,image/webp,*/*":       "avif",
		"text/html, image/webp ,*/*;q=.8": "webp",
		"image/avif;q=0.5, image/webp":    "webp",
		"image/avif;q=0, image/webp;q=0":  "",
		"image/*":                         "",
		"":                                "",
		"image/avif;q=7":                  "",
	} {
		if got := negotiated(accept, offered); string(got) != want {
			t.Errorf("%q: got %q, want %q", accept, got, want)
		}
	}
}
