package calendar

import (
	"fmt"
	"strings"
	"time"
)

// A dayRule reports whether a day belongs to a field. last is the last day of its month.
type dayRule func(day, last int, weekday time.Weekday) bool

// Days are the days of an expression.
type days struct {
	ofMonth, ofWeek []dayRule
	both            bool // must fit, and not only one
}

func (d days) have(day, last int, weekday time.Weekday) bool {
	month, week := fits(d.ofMonth, day, last, weekday), fits(d.ofWeek, day, last, weekday)
	return month && week || !d.both && (month || week)
}

func fits(rules []dayRule, day, last int, weekday time.Weekday) bool {
	for _, rule := range rules {
		if rule(day, last, weekday) {
			return true
		}
	}
	return false
}

// parseDays reads the two fields of days. If none of them is starred, a day that fits one fits.
func parseDays(ofMonth, ofWeek string) (days, error) {
	ofMonth, ofWeek = strings.Replace(ofMonth, "?", "*", 1), strings.Replace(ofWeek, "?", "*", 1)
	d := days{both: starred(ofMonth) || starred(ofWeek)}
	var err error
	if d.ofMonth, err = rules(ofMonth, monthDayRule); err == nil {
		d.ofWeek, err = rules(ofWeek, weekDayRule)
	}
	return d, err
}

func rules(list string, parse func(string) (dayRule, error)) (all []dayRule, err error) {
	for part := range strings.SplitSeq(strings.ToUpper(list), ",") {
		rule, err := parse(part)
		if err != nil {
			return nil, err
		}
		all = append(all, rule)
	}
	return all, nil
}

// monthDayRule reads a day of the month: L is the last, L-2 the second before it, LW the last
// weekday, 15W the weekday that is nearest to the 15th.
func monthDayRule(text string) (dayRule, error) {
	before, after, fromLast := strings.Cut(text, "L-")
	near, isNear := strings.CutSuffix(text, "W")
	switch {
	case text == "L":
		return func(day, last int, _ time.Weekday) bool { return day == last }, nil
	case text == "LW":
		return func(day, last int, on time.Weekday) bool { return isNearest(last, day, last, on) }, nil
	case fromLast && before == "":
		n, err := monthDay.value(after)
		return func(day, last int, _ time.Weekday) bool { return day == last-n }, err
	case isNear:
		n, err := monthDay.value(near)
		return func(day, last int, on time.Weekday) bool { return isNearest(n, day, last, on) }, err
	}
	all, err := monthDay.part(text)
	return func(day, _ int, _ time.Weekday) bool { return all.has(day) }, err
}

// isNearest reports whether day is the weekday, in the same month, that is nearest to the day n.
func isNearest(n, day, last int, on time.Weekday) bool {
	if n > last || on == time.Saturday || on == time.Sunday {
		return false
	}
	switch time.Weekday((int(on) + n - day + 35) % 7) { // of the day n
	case time.Saturday:
		return day == n-1 || n == 1 && day == 3
	case time.Sunday:
		return day == n+1 || n == last && day == n-2
	}
	return day == n
}

// weekDayRule reads a day of the week: MON#1 is the first Monday of the month, and FRIL the last
// Friday.
func weekDayRule(text string) (dayRule, error) {
	if name, nth, ok := strings.Cut(text, "#"); ok {
		day, err := weekDay.value(name)
		if len(nth) != 1 || nth < "1" || nth > "5" {
			return nil, fmt.Errorf("%q does not end in #1 to #5", text)
		}
		n := int(nth[0] - '0')
		return func(d, _ int, on time.Weekday) bool { return int(on) == day%7 && (d+6)/7 == n }, err
	}
	if text == "L" {
		return nil, fmt.Errorf("the day of the week %q names no day; the last Friday of the month is FRIL", text)
	}
	if name, ok := strings.CutSuffix(text, "L"); ok {
		day, err := weekDay.value(name)
		return func(d, last int, on time.Weekday) bool { return int(on) == day%7 && d+7 > last }, err
	}
	all, err := weekDay.part(text)
	if all.has(7) {
		all |= 1
	}
	return func(_, _ int, on time.Weekday) bool { return all.has(int(on)) }, err
}
