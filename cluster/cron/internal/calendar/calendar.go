// Package calendar computes when entries with cron expressions are due, also across the days on
// which a time zone changes its offset.
package calendar

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Calendar has the times of one cron expression in one time zone. It is immutable.
type Calendar struct {
	expression
	zone   *time.Location
	hourly bool // it names no hours
}

// Parse reads a cron expression of five fields. The zone is a name of the IANA database; "" is UTC.
// It returns an error that says what is wrong, also if the expression has no time at all, as
// "0 0 30 2 *".
func Parse(spec, zone string) (*Calendar, error) {
	fields := strings.Fields(spec)
	if len(fields) != 5 || strings.Contains(fields[0], "=") {
		return nil, fmt.Errorf("the cron expression %q does not have the five fields minute, hour, day of month, month, day of week; an example is %q", spec, "30 6 * * MON-FRI")
	}
	for _, f := range fields {
		if slices.Contains(strings.Split(f, ","), "") {
			return nil, fmt.Errorf("the cron expression %q has a list with an empty element: %q", spec, f)
		}
	}
	times, err := parseExpression(fields)
	if err != nil {
		return nil, fmt.Errorf("the cron expression %q: %w", spec, err)
	}
	where, err := location(zone)
	if err != nil {
		return nil, err
	}
	c := &Calendar{expression: times, zone: where, hourly: starred(fields[1])}
	if c.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, fmt.Errorf("the cron expression %q has no time: no month has that day", spec)
	}
	return c, nil
}

func location(zone string) (*time.Location, error) {
	if zone == "Local" {
		return nil, fmt.Errorf("the time zone %q differs from host to host; give a name as Europe/Berlin, or none for UTC", zone)
	}
	where, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("the time zone %q: %w; a program that runs where no zones are installed imports time/tzdata", zone, err)
	}
	return where, nil
}

// Next returns the first time after t, in the zone. It returns the zero time if forty years have no
// such time.
//
// A time that clocks skip when they are set forward is due when they have been: one run for all
// that are skipped. Of a time that clocks show twice only the first is due. An expression whose
// hour begins with a star names no time of day: it goes by the time that passes, as in cron of
// Debian.
func (c *Calendar) Next(t time.Time) time.Time {
	t = t.In(c.zone)
	for last := t.AddDate(searched, 0, 0); t.Before(last); {
		t = c.afterDoubled(t)
		_, end := t.ZoneBounds()
		if end.IsZero() || end.After(last) {
			end = last
		}
		if wall, ok := c.next(shown(t), shownAs(end, t).Add(-1)); ok {
			return wall.Add(-offset(t)).In(c.zone)
		}
		if end.Before(last) && c.dueAt(end) {
			return end
		}
		t = end
	}
	return time.Time{}
}

// searched is how many years are searched for the next time. February has five Mondays every 28
// years, and around 2100 after 40.
const searched = 41

// afterDoubled returns the end of the times that clocks show for the second time, if t is one of
// them.
func (c *Calendar) afterDoubled(t time.Time) time.Time {
	start, _ := t.ZoneBounds()
	if start.IsZero() || c.hourly {
		return t
	}
	doubled := offset(start.Add(-time.Nanosecond)) - offset(start)
	if end := start.Add(doubled - time.Nanosecond); t.Before(end) {
		return end
	}
	return t
}

// dueAt reports whether an entry is due when clocks are set: its time is that which they show then,
// or one that they skip.
func (c *Calendar) dueAt(change time.Time) bool {
	from, to := shown(change.Add(-time.Nanosecond)), shown(change)
	switch {
	case c.hourly:
		from = to.Add(-time.Nanosecond)
	case to.Before(from): // clocks are set back
		return false
	}
	_, due := c.next(from, to)
	return due
}

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// shown returns what clocks show at t, as a time in UTC.
func shown(t time.Time) time.Time { return shownAs(t, t) }

// shownAs returns what clocks would show at t with the offset that they have at another time.
func shownAs(t, other time.Time) time.Time { return t.UTC().Add(offset(other)) }

// Count returns how many times there are after from and not after to. It looks at days, not at each
// time.
func (c *Calendar) Count(from, to time.Time) (n int) {
	to = to.In(c.zone)
	for t := from.In(c.zone); t.Before(to); {
		if t = c.afterDoubled(t); !t.Before(to) {
			break
		}
		_, end := t.ZoneBounds()
		if end.IsZero() || end.After(to) {
			return n + c.count(shown(t), shownAs(to, t))
		}
		n += c.count(shown(t), shownAs(end, t).Add(-1))
		if c.dueAt(end) {
			n++
		}
		t = end
	}
	return n
}

// longest is a time that can be doubled.
const longest = 100 * 365 * 24 * time.Hour

// Last returns the last times after from and not after to, at most that many, in order.
func (c *Calendar) Last(from, to time.Time, atMost int) (all []time.Time) {
	since := to.Add(-time.Minute)
	for ago := 2 * time.Minute; since.After(from) && c.Count(since, to) < atMost; ago *= 2 {
		if since = to.Add(-ago); ago > longest {
			since = from
		}
	}
	if since.Before(from) {
		since = from
	}
	for at := c.Next(since); !at.IsZero() && !at.After(to); at = c.Next(at) {
		all = append(all, at)
	}
	return all[max(len(all)-atMost, 0):]
}
