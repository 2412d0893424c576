package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settings are what the environment says.
type settings struct {
	duration    time.Duration // of one measurement
	connections int
	cases       []string // names to measure, all if empty
	profile     string   // article, growth, soak, all or ""
	target      string
	headers     http.Header // that the target's caller sends
	bucket      string      // of the target
	out         string      // folder for results and plots, "" for none
	data        string      // folder of the stack, "" for one that is removed
	binary      string      // of the service, "" to build it
	rows        int         // other files in the table
	buckets     int         // other buckets
	pprof       string      // address of the service's profiler, "" for none
	hasura      string      // replay or ""
}

// variables are the names, for the usage.
var variables = [][2]string{
	{"DURATION", "of each measurement, default 2s"},
	{"CONNECTIONS", "at once, default 50 (large files: 8)"},
	{"CASES", "names to measure, separated by commas; default all"},
	{"PROFILE", "article: workers grow from 1 to CONNECTIONS in 10 s, then 60 s, with the service held to a tenth of a processor; growth: a small file again and again, with ever more buckets, files and sessions; soak: a mixture at a steady rate for DURATION, with the memory drawn; all: the cases, then article"},
	{"TARGET", "base URL of the REST interface of another server, such as http://127.0.0.1:8000/v1"},
	{"HEADERS", "that the target takes uploads and downloads with, as Name: value, separated by newlines or |"},
	{"BUCKET", "of the target; default is the bucket of that name"},
	{"HASURA", "replay: it repeats its answers to the questions of downloads, as if a fast Hasura stood on a machine of its own"},
	{"ROWS", "other files in the table, default 0"},
	{"BUCKETS", "other buckets, each with a file, default 0"},
	{"OUT", "folder for results as JSON and plots as SVG"},
	{"DATA", "folder of database and objects; default a temporary one"},
	{"SERVICE", "binary of the service; default it is built"},
	{"BIND_PPROF", "where the service offers its profiles"},
}

func describeSettings() string {
	var b strings.Builder
	for _, v := range variables {
		fmt.Fprintf(&b, "  %-12s %s\n", v[0], v[1])
	}
	return b.String()
}

func readSettings(getenv func(string) string) (settings, error) {
	s := settings{
		duration: 2 * time.Second, connections: 50, target: strings.TrimRight(getenv("TARGET"), "/"),
		bucket: getenv("BUCKET"), out: getenv("OUT"), data: getenv("DATA"), binary: getenv("SERVICE"), pprof: getenv("BIND_PPROF"),
	}
	if s.bucket == "" {
		s.bucket = "default"
	}
	if names := getenv("CASES"); names != "" {
		s.cases = strings.Split(names, ",")
	}
	var err error
	if text := getenv("DURATION"); text != "" {
		if s.duration, err = time.ParseDuration(text); err != nil || s.duration < 100*time.Millisecond {
			return s, fmt.Errorf("DURATION must be 100ms or longer, such as 2s, not %q", text)
		}
	}
	if s.connections, err = number(getenv, "CONNECTIONS", s.connections, 1, 10_000); err != nil {
		return s, err
	}
	if s.rows, err = number(getenv, "ROWS", 0, 0, 10_000_000); err != nil {
		return s, err
	}
	if s.buckets, err = number(getenv, "BUCKETS", 0, 0, 1_000_000); err != nil {
		return s, err
	}
	if s.profile = getenv("PROFILE"); !slices.Contains([]string{"", "article", "growth", "soak", "all"}, s.profile) {
		return s, fmt.Errorf("PROFILE must be article, growth, soak, all or empty, not %q", s.profile)
	}
	if s.headers, err = parseHeaders(getenv("HEADERS")); err != nil {
		return s, err
	}
	if s.hasura = getenv("HASURA"); s.hasura != "" && s.hasura != "replay" {
		return s, fmt.Errorf("HASURA must be replay or empty, not %q", s.hasura)
	}
	return s, checkTarget(s.target)
}

func checkTarget(target string) error {
	if u, err := url.Parse(target); err != nil || target != "" && (u.Scheme != "http" || u.Host == "") {
		return fmt.Errorf("TARGET must be a URL that begins with http://, not %q", target)
	}
	return nil
}

func number(getenv func(string) string, name string, fallback, least, most int) (int, error) {
	text := getenv(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s must be a whole number from %d to %d, not %q", name, least, most, text)
	}
	return n, nil
}

func parseHeaders(text string) (http.Header, error) {
	h := http.Header{}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '|' }) {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("HEADERS must hold lines of the form Name: value, not %q", line)
		}
		h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return h, nil
}
