package handlers_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"hasura-storage/actions"
	"hasura-storage/graphql"
	"hasura-storage/handlers"
)

// startProxied brings up a stack whose store clients cannot reach.
func startProxied(t *testing.T) *restStack {
	return startREST(t, func(o *actions.Options, _ *handlers.Options) { o.Proxied = true })
}

var proxiedOwner = actions.Session{"x-hasura-role": "user", "x-hasura-user-id": ownerID}

// send puts a body of length bytes (-1 is unknown) to a ticket's address.
func send(t *testing.T, url string, body []byte, length int64) *http.Response {
	t.Helper()
	r, err := http.NewRequest(http.MethodPut, url, io.NopCloser(bytes.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = length
	r.Header.Set("Content-Type", "image/strange") // clients send what they like
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func TestAFileThroughTheServiceAlone(t *testing.T) {
	s := startProxied(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MiB are one part
	content = append(content, "and the rest"...)
	mimeType := "text/plain"
	for _, method := range []string{"PUT", "MULTIPART"} {
		t.Run(method, func(t *testing.T) {
			ticket, err := s.service.CreateUpload(t.Context(), proxiedOwner, actions.CreateUpload{
				Name: "ä.txt", Size: graphql.Bigint(len(content)), MimeType: &mimeType, Method: method,
			})
			if err != nil {
				t.Fatal(err)
			}
			var named []actions.UploadedPart
			if method == "PUT" {
				if resp := send(t, *ticket.URL, content, int64(len(content))); resp.StatusCode != http.StatusOK || resp.Header.Get("ETag") == "" {
					t.Fatalf("PUT: %d", resp.StatusCode)
				}
			}
			for _, part := range ticket.Parts {
				from := int64(part.PartNumber-1) * *ticket.PartSize
				resp := send(t, part.URL, content[from:from+part.Size], -1)
				if resp.StatusCode != http.StatusOK {
					t.Fatalf("part %d: %d", part.PartNumber, resp.StatusCode)
				}
				named = append(named, actions.UploadedPart{PartNumber: part.PartNumber, ETag: resp.Header.Get("ETag")})
			}
			file, err := s.service.CompleteUpload(t.Context(), proxiedOwner, actions.CompleteUpload{UploadID: ticket.UploadID, Parts: named})
			if err != nil {
				t.Fatal(err)
			}
			s.served(file.ID, content)
			if resp := send(t, s.URL+"/uploads/"+ticket.UploadID, content, int64(len(content))); resp.StatusCode != http.StatusNotFound {
				t.Errorf("I5: after the end the ticket's address answers %d", resp.StatusCode)
			}
		})
	}
}

// served fetches an original by a link of this service, whole and in part.
func (s *restStack) served(id string, content []byte) {
	s.t.Helper()
	link, err := s.service.Download(s.t.Context(), proxiedOwner, actions.GetDownload{ID: id, Disposition: "ATTACHMENT"})
	if err != nil {
		s.t.Fatal(err)
	}
	if !strings.HasPrefix(link.URL, s.URL+"/files/"+id+"/signed/") {
		s.t.Fatalf("the link is %s", link.URL)
	}
	before, rest, _ := strings.Cut(link.URL, "d=")
	_, after, _ := strings.Cut(rest, "&e=")
	for name, tc := range map[string]struct {
		url, ranged string
		status      int
		body        []byte
	}{
		"whole":            {link.URL, "", 200, content},
		"a range":          {link.URL, "bytes=4-9", 206, content[4:10]},
		"another type":     {strings.Replace(link.URL, "t=text%2Fplain", "t=text%2Fhtml", 1), "", 403, nil},
		"of another file":  {strings.Replace(link.URL, id, ownerID, 1), "", 403, nil},
		"without its name": {before + "e=" + after, "", 403, nil},
	} {
		r, _ := http.NewRequest(http.MethodGet, tc.url, nil)
		if tc.ranged != "" {
			r.Header.Set("Range", tc.ranged)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			s.t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != tc.status || tc.body != nil && !bytes.Equal(got, tc.body) {
			s.t.Errorf("%s: status %d, %d bytes", name, resp.StatusCode, len(got))
		}
		if h := resp.Header; tc.body != nil && (h.Get("Content-Type") != "text/plain" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment;") || h.Get("Cache-Control") == "") {
			s.t.Errorf("%s: headers %v", name, h)
		}
	}
}

func TestWhatIsSentToATicketMustFit(t *testing.T) {
	s := startProxied(t)
	create := func(method string) actions.Upload {
		ticket, err := s.service.CreateUpload(t.Context(), proxiedOwner, actions.CreateUpload{Name: "a.txt", Size: 5, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		return ticket
	}
	whole, parts := create("PUT"), create("MULTIPART")
	other := s.URL + "/uploads/" + strangerID
	for name, tc := range map[string]struct {
		url    string
		body   string
		length int64
		status int
	}{
		"too long, as it says":          {*whole.URL, "bytes!", 6, 400},
		"too long, and silent":          {*whole.URL, "bytes!", -1, 400},
		"too short, and silent":         {*whole.URL, "byte", -1, 400},
		"empty":                         {*whole.URL, "", 0, 400},
		"a part of a PUT":               {*whole.URL + "/1", "bytes", 5, 400},
		"all of an upload in parts":     {s.URL + "/uploads/" + parts.UploadID, "bytes", 5, 400},
		"a part beyond the last":        {s.URL + "/uploads/" + parts.UploadID + "/2", "bytes", 5, 400},
		"a part without a number":       {s.URL + "/uploads/" + parts.UploadID + "/x", "bytes", 5, 400},
		"a part that is too long":       {parts.Parts[0].URL, "bytes!", -1, 400},
		"an upload that does not exist": {other, "bytes", 5, 404},
		"an id that is none":            {s.URL + "/uploads/1", "bytes", 5, 400},
	} {
		t.Run(name, func(t *testing.T) {
			if resp := send(t, tc.url, []byte(tc.body), tc.length); resp.StatusCode != tc.status {
				body, _ := io.ReadAll(resp.Body)
				t.Errorf("status %d %s", resp.StatusCode, body)
			}
		})
	}
	if resp := send(t, *whole.URL, []byte("bytes"), 5); resp.StatusCode != http.StatusOK {
		t.Errorf("after all that the right bytes get %d", resp.StatusCode)
	}
}
