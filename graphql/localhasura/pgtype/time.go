package pgtype

import (
	"fmt"
	"strings"
	"time"
)

// The layouts that Postgres's input routines accept and people send.
var (
	dateLayouts  = []string{"2006-1-2", "20060102", "2006/1/2", "Jan 2 2006", "January 2, 2006", "2 Jan 2006"}
	clockLayouts = []string{"15:04:05", "15:04", "150405"}
	zoneLayouts  = []string{"Z07:00", "Z0700", "Z07", " Z07:00", " Z0700", " Z07", " MST"}
)

// FormatTimestampTZ writes a moment as Hasura prints it, in UTC:
// 2024-01-15T12:34:56.123456+00:00, without trailing zeros in the fraction.
// These texts sort as the moments do.
func FormatTimestampTZ(at time.Time) string {
	return at.UTC().Round(time.Microsecond).Format("2006-01-02T15:04:05.999999") + "+00:00"
}

// Moment reads the words that mean a moment relative to now, such as "now" and
// "today"; ok is false for any other text and for types without a date.
func (t Type) Moment(s string, now time.Time) (stored string, ok bool) {
	if t.Class != TimestampTZ && t.Class != Timestamp && t.Class != Date {
		return "", false
	}
	// Postgres skips punctuation behind a word, so that "now()" works too.
	switch word := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(s)), "()"); word {
	case "now":
		return t.format(now), true
	case "epoch":
		return t.format(time.Unix(0, 0)), true
	case "today", "yesterday", "tomorrow":
		day := now.UTC().Truncate(24 * time.Hour)
		return t.format(day.AddDate(0, 0, map[string]int{"yesterday": -1, "tomorrow": 1}[word])), true
	}
	return "", false
}

func (t Type) castTime(s string) (any, error) {
	if moment, ok := t.Moment(s, time.Now()); ok {
		return moment, nil
	}
	if strings.Contains(strings.ToLower(s), "infinity") {
		return nil, &DataError{fmt.Sprintf("%q is not supported by the local Hasura: use a real one", s)}
	}
	at, err := t.parseTime(strings.TrimSpace(s))
	if err != nil {
		return nil, err
	}
	return t.format(at), nil
}

func (t Type) format(at time.Time) string {
	at = at.UTC().Round(time.Microsecond)
	switch t.Class {
	case Date:
		return at.Format("2006-01-02")
	case Time:
		return at.Format("15:04:05.999999")
	case Timestamp:
		return at.Format("2006-01-02T15:04:05.999999")
	default:
		return FormatTimestampTZ(at)
	}
}

func (t Type) parseTime(s string) (time.Time, error) {
	outOfRange := false
	try := func(layout string) (time.Time, bool) {
		at, err := time.Parse(layout, s)
		if err != nil && strings.Contains(err.Error(), "out of range") {
			outOfRange = true
		}
		return at, err == nil
	}
	for _, layout := range t.layouts() {
		if at, ok := try(layout); ok {
			return t.local(at), nil
		}
	}
	if outOfRange {
		return time.Time{}, &DataError{fmt.Sprintf("date/time field value out of range: %q", s)}
	}
	return time.Time{}, t.invalid(s)
}

// local drops the zone of an input where the type has none: Postgres ignores it.
func (t Type) local(at time.Time) time.Time {
	if t.Class == TimestampTZ {
		return at
	}
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
}

var layoutsOf = map[Class][]string{
	Time:        withZones(clockLayouts),
	Date:        dateTimeLayouts(),
	Timestamp:   dateTimeLayouts(),
	TimestampTZ: dateTimeLayouts(),
}

func (t Type) layouts() []string { return layoutsOf[t.Class] }

func withZones(layouts []string) []string {
	all := make([]string, 0, len(layouts)*(1+len(zoneLayouts)))
	for _, l := range layouts {
		all = append(all, l)
		for _, zone := range zoneLayouts {
			all = append(all, l+zone)
		}
	}
	return all
}

func dateTimeLayouts() []string {
	var all []string
	for _, sep := range []string{"T", " "} {
		for _, d := range dateLayouts {
			for _, clock := range withZones(clockLayouts) {
				all = append(all, d+sep+clock)
			}
		}
	}
	return append(all, dateLayouts...)
}
