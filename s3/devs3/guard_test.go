package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/versity/versitygw/s3err"
)

func TestABodyThatEndsEarlyIsIncomplete(t *testing.T) {
	for text, length := range map[string]int64{"whole": 5, "short": 6, "": 1} {
		_, err := io.ReadAll(whole(strings.NewReader(text), &length))
		incomplete := err != nil && errors.Is(err, s3err.GetAPIError(s3err.ErrIncompleteBody))
		if incomplete != (int64(len(text)) < length) {
			t.Errorf("%q of %d bytes: %v", text, length, err)
		}
	}
}

func TestABodyWithoutLengthIsLeftAlone(t *testing.T) {
	body := strings.NewReader("x")
	if whole(body, nil) != io.Reader(body) || whole(nil, new(int64)) != nil {
		t.Error("it was wrapped")
	}
}

func TestSettings(t *testing.T) {
	keys := map[string]string{"DEVS3_ACCESS_KEY": "a", "DEVS3_SECRET_KEY": "s"}
	for sentence, c := range map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"all is given":      {[]string{"-dir", "d"}, keys, ""},
		"no folder":         {nil, keys, "-dir"},
		"no keys":           {[]string{"-dir", "d"}, nil, "DEVS3_ACCESS_KEY"},
		"an unknown option": {[]string{"-nope"}, keys, "nope"},
	} {
		set, err := parse(c.args, func(name string) string { return c.env[name] })
		if c.want == "" && (err != nil || !strings.HasPrefix(set.dir, "/")) {
			t.Errorf("%s: %+v, %v", sentence, set, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v does not name %s", sentence, err, c.want)
		}
	}
}
