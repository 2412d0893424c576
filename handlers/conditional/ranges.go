package conditional

import (
	"math"
	"strings"
)

// choose reads the Range header. What is not one range of bytes, well-formed, is
// answered with whole: RFC 9110 section 14.2 allows it, and several ranges in one
// answer are what no browser needs and what has been used to exhaust servers.
func choose(lines []string, size int64, whole Decision) Decision {
	if len(lines) != 1 {
		return whole
	}
	spec, ok := cutUnit(lines[0])
	if !ok {
		return whole
	}
	from, to, ok := strings.Cut(spec, "-")
	switch {
	case !ok:
		return whole
	case from == "":
		return suffix(to, size, whole)
	default:
		return between(from, to, size, whole)
	}
}

// cutUnit takes "bytes=" off. Names of range units know no upper or lower case.
func cutUnit(header string) (string, bool) {
	unit, spec, ok := strings.Cut(header, "=")
	return strings.Trim(spec, " \t"), ok && strings.EqualFold(strings.Trim(unit, " \t"), "bytes")
}

// suffix is the last count bytes.
func suffix(count string, size int64, whole Decision) Decision {
	n, ok := number(count)
	switch {
	case !ok:
		return whole
	case n == 0:
		return Decision{Answer: Unsatisfiable}
	case size == 0:
		return whole // satisfiable, but no Content-Range can say so
	}
	n = min(n, size)
	return Decision{Answer: Part, Offset: size - n, Length: n}
}

// between is from the byte from up to and with the byte to, or to the end.
func between(from, to string, size int64, whole Decision) Decision {
	first, ok := number(from)
	if !ok {
		return whole
	}
	last := int64(math.MaxInt64)
	if to != "" {
		if last, ok = number(to); !ok || last < first {
			return whole
		}
	}
	if first >= size {
		return Decision{Answer: Unsatisfiable}
	}
	last = min(last, size-1)
	return Decision{Answer: Part, Offset: first, Length: last - first + 1}
}

// number reads digits and nothing else; what is too large for an int64 is the
// largest, since it lies beyond every file's end.
func number(digits string) (int64, bool) {
	if digits == "" {
		return 0, false
	}
	var n int64
	for i := range len(digits) {
		d := int64(digits[i]) - '0'
		if d < 0 || d > 9 {
			return 0, false
		}
		if n > (math.MaxInt64-d)/10 {
			n = math.MaxInt64 // and stays so: the loop only checks the rest
			continue
		}
		n = n*10 + d
	}
	return n, true
}
