package calendar

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// A field is what one field of an expression may contain.
type field struct {
	name     string
	min, max int
	open     int      // the end of *, and of a step without an end
	names    []string // of the values from min, in capitals
}

var (
	minutes  = field{name: "minute", max: 59, open: 59}
	hours    = field{name: "hour", max: 23, open: 23}
	monthDay = field{name: "day of the month", min: 1, max: 31, open: 31}
	months   = field{name: "month", min: 1, max: 12, open: 12, names: []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}}
	weekDay  = field{name: "day of the week", max: 7, open: 6, names: []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}}
)

// starred reports whether a field restricts nothing by itself: it begins with a star, whatever
// follows. This is the rule of crontab(5), for days and for hours.
func starred(text string) bool { return strings.HasPrefix(text, "*") }

// A set has a bit for each value.
type set uint64

func (s set) has(n int) bool { return s>>n&1 == 1 }

// size returns how many values are in the set.
func (s set) size() int { return bits.OnesCount64(uint64(s)) }

// below returns the values that are less than n, which is at most 63.
func (s set) below(n int) set { return s & (1<<n - 1) }

// from returns the least value that is not less than n.
func (s set) from(n int) (least int, ok bool) {
	rest := s >> n << n
	return bits.TrailingZeros64(uint64(rest)), rest != 0
}

// parse returns the values of a list.
func (f field) parse(text string) (set, error) {
	var all set
	for part := range strings.SplitSeq(text, ",") {
		values, err := f.part(part)
		if err != nil {
			return 0, err
		}
		all |= values
	}
	return all, nil
}

// part returns the values of an element of a list: *, a value or a range, perhaps with a step.
func (f field) part(text string) (set, error) {
	of, by, stepped := strings.Cut(text, "/")
	step, err := 1, error(nil)
	if stepped {
		if step, err = strconv.Atoi(by); err != nil || step < 1 {
			return 0, fmt.Errorf("the step of %q is not a positive number", text)
		}
	}
	first, last, err := f.span(of, stepped)
	if err != nil {
		return 0, err
	}
	if first > last {
		return 0, fmt.Errorf("the range %q ends before it begins", text)
	}
	var all set
	for n := first; n <= last; n += min(step, 64) {
		all |= 1 << n
	}
	return all, nil
}

// span returns the ends of a range. A single value with a step has no end.
func (f field) span(text string, stepped bool) (first, last int, err error) {
	if text == "*" {
		return f.min, f.open, nil
	}
	from, to, ranges := strings.Cut(text, "-")
	if first, err = f.value(from); err != nil {
		return 0, 0, err
	}
	switch {
	case ranges:
		if last, err = f.value(to); last == 0 && f.max == 7 && strings.EqualFold(to, "SUN") {
			last = 7
		}
	case stepped:
		last = f.open
	default:
		last = first
	}
	return first, last, err
}

// value returns a number, or the number of a name.
func (f field) value(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.min + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.min || n > f.max || text[0] == '+' {
		return 0, fmt.Errorf("the %s %q is not from %d to %d", f.name, text, f.min, f.max)
	}
	return n, nil
}
