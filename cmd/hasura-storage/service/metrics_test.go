package service

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/zap"
)

// TestMetricsTellWhatHappened counts after known requests to the whole
// deployment. The timer's sweeps run all the time: what they ask is not counted here.
func TestMetricsTellWhatHappened(t *testing.T) {
	d := deploy(t)
	addr := freeAddr(t)
	d.env["BIND_METRICS"] = addr
	stop := d.run()
	defer stop()

	const text = "a note of 23 characters"
	note := d.upload(text)
	for range 3 { // from the store, from the store into memory, from memory
		d.ask("GET", "/v1/files/"+note, nil, "", 200)
	}
	photo, err := os.ReadFile("../../../actions/images/testdata/photo_12mp.jpg")
	if err != nil {
		t.Fatal(err)
	}
	picture := d.upload(string(photo))
	variant := ""
	for range 2 {
		variant = d.ask("GET", "/v1/files/"+picture+"?w=32", nil, "", 200)
	}
	missing := d.ask("GET", "/v1/files/"+formerID, nil, "", 404)
	d.ask("BREW", "/v1/files/"+note, nil, "", 405)
	d.ask("GET", "/nowhere/"+note, nil, "", 404)
	d.ask("DELETE", "/v1/files/"+note, nil, "", 204)
	d.until("a delete loses its bytes", func() bool { return d.count("storage.garbage") == "0" })

	page := scrape(t, addr)
	got := series(page)
	for name, want := range map[string]string{
		`http_requests_total{method="POST",route="/v1/files",status="2xx"}`:        "2",
		`http_requests_total{method="GET",route="/v1/files/{id}",status="2xx"}`:    "5",
		`http_requests_total{method="GET",route="/v1/files/{id}",status="4xx"}`:    "1",
		`http_requests_total{method="DELETE",route="/v1/files/{id}",status="2xx"}`: "1",
		`http_request_duration_seconds_count{method="GET",route="/v1/files/{id}"}`: "6",
		`http_faults_total{method="GET",route="/v1/files/{id}"}`:                   "0",
		`http_requests_in_flight`: "0",
		`hasura_requests_total{operation="InsertUploads",outcome="ok"}`:   "2",
		`hasura_requests_total{operation="CommitUpload",outcome="ok"}`:    "2",
		`hasura_request_duration_seconds_count{operation="CommitUpload"}`: "2",
		`s3_requests_total{api="GetObject",outcome="ok"}`:                 "3", // twice the note, once the photo
		`s3_requests_total{api="GetObject",outcome="refused"}`:            "1", // the variant, before it was made
		`s3_bytes_total{api="GetObject",direction="received"}`:            number(2*len(text) + len(photo)),
		`s3_bytes_total{api="PutObject",direction="sent"}`:                number(len(text) + len(photo) + len(variant)),
		`http_response_bytes_total{method="GET",route="/v1/files/{id}"}`:  number(3*len(text) + 2*len(variant) + len(missing)),
		`image_transforms_total{outcome="ok"}`:                            "1",
		`image_transform_duration_seconds_count`:                          "1",
		`image_memory_bytes`:                                              "0",
		`image_queue`:                                                     "0",
		`cache_requests_total{cache="files",result="hit"}`:                "1",
		`cache_requests_total{cache="files",result="miss"}`:               "2",
		`cache_requests_total{cache="variants",result="hit"}`:             "1",
		`cache_requests_total{cache="variants",result="miss"}`:            "1",
		`cache_limit_bytes{cache="files"}`:                                "3.3554432e+07",
		`uploads_total{event="opened",kind="create"}`:                     "2",
		`uploads_total{event="completed",kind="create"}`:                  "2",
		`uploads_total{event="aborted",kind="create"}`:                    "",
		`garbage_removed_total`:                                           "1",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	for _, strange := range []string{note, picture, owner, formerID, "note.txt", "BREW", `"user"`} {
		if strings.Contains(page, strange) {
			t.Errorf("the metrics tell %q", strange)
		}
	}
}

// number is written as Prometheus' text format has it.
func number(n int) string { return strconv.FormatFloat(float64(n), 'g', -1, 64) }

func (d *deployment) upload(content string) (id string) {
	d.t.Helper()
	body, kind := form("file[]", content, "bucket-id", "default")
	var uploaded struct{ ProcessedFiles []struct{ ID string } }
	_ = json.Unmarshal([]byte(d.ask("POST", "/v1/files", body, kind, 201)), &uploaded)
	return uploaded.ProcessedFiles[0].ID
}

func scrape(t *testing.T, addr string) string {
	t.Helper()
	answer, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s", answer.StatusCode, text)
	}
	return string(text)
}

var sample = regexp.MustCompile(`(?m)^hasura_storage_(\S+) (\S+)$`)

// series maps our own series to their values.
func series(text string) map[string]string {
	found := map[string]string{}
	for _, m := range sample.FindAllStringSubmatch(text, -1) {
		found[m[1]] = m[2]
	}
	return found
}

func TestMetricsHaveAListenerOfTheirOwn(t *testing.T) {
	addr := freeAddr(t)
	i := start(t, away, "BIND_METRICS", addr)
	i.get(t, "/readyz") // Hasura is away
	if got, body := i.get(t, "/metrics"); got != http.StatusNotFound {
		t.Errorf("the service itself answers %d %s", got, body)
	}
	before := series(scrape(t, addr))
	i.end(t)
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("metrics are still offered after the end")
	}
	for _, name := range []string{
		`build_info{version="` + Version() + `"}`,
		`http_faults_total{method="GET",route="/readyz"}`, `http_requests_total{method="GET",route="/readyz",status="5xx"}`,
	} {
		if before[name] != "1" {
			t.Errorf("%s is %q, want 1", name, before[name])
		}
	}
}

func TestMetricsAtAPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	err = Run(t.Context(), with("BIND_METRICS", taken.Addr().String(), "BIND", "127.0.0.1:0"), zap.NewNop(), nil)
	if err == nil || !strings.Contains(err.Error(), "BIND_METRICS "+taken.Addr().String()) {
		t.Errorf("err = %v", err)
	}
}
