package calendar

import "time"

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
