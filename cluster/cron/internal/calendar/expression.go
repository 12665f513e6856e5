package calendar

import "time"

// An expression has the times of a cron expression as clocks show them. Its methods take and return
// such times in UTC.
type expression struct {
	minutes, hours, months set
	days
}

func parseExpression(fields []string) (e expression, err error) {
	for _, f := range []struct {
		field
		text string
		into *set
	}{{minutes, fields[0], &e.minutes}, {hours, fields[1], &e.hours}, {months, fields[3], &e.months}} {
		if *f.into, err = f.parse(f.text); err != nil {
			return e, err
		}
	}
	e.days, err = parseDays(fields[2], fields[4])
	return e, err
}

// next returns the first time after one and not after another.
func (e *expression) next(after, until time.Time) (at time.Time, ok bool) {
	t := after.Truncate(time.Minute).Add(time.Minute)
	for !t.After(until) {
		y, m, d := t.Date()
		if !e.months.has(int(m)) {
			t = date(y, m+1, 1)
			continue
		}
		if hour, minute, ok := e.timeFrom(t.Hour(), t.Minute()); ok && e.onDay(t) {
			at = date(y, m, d).Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
			return at, !at.After(until)
		}
		t = date(y, m, d+1)
	}
	return time.Time{}, false
}

// timeFrom returns the first time of a day that is not before that one.
func (e *expression) timeFrom(hour, minute int) (h, m int, ok bool) {
	if e.hours.has(hour) {
		if m, ok := e.minutes.from(minute); ok {
			return hour, m, true
		}
	}
	h, ok = e.hours.from(hour + 1)
	m, _ = e.minutes.from(0)
	return h, m, ok
}

// count returns how many times there are after one and not after another, looking at days only.
func (e *expression) count(after, until time.Time) (n int) {
	if !after.Before(until) {
		return 0
	}
	if e.onDay(after) {
		n -= e.upTo(after)
	}
	y, m, d := after.Date()
	for day := date(y, m, d); !day.After(until); day = day.AddDate(0, 0, 1) {
		if end := day.AddDate(0, 0, 1); !e.onDay(day) {
			continue
		} else if until.Before(end) {
			n += e.upTo(until)
		} else {
			n += e.hours.size() * e.minutes.size()
		}
	}
	return n
}

// upTo returns how many times there are on a day of the expression until then.
func (e *expression) upTo(t time.Time) int {
	n := e.hours.below(t.Hour()).size() * e.minutes.size()
	if e.hours.has(t.Hour()) {
		n += e.minutes.below(t.Minute() + 1).size()
	}
	return n
}

func (e *expression) onDay(t time.Time) bool {
	y, m, d := t.Date()
	return e.months.has(int(m)) && e.have(d, date(y, m+1, 0).Day(), t.Weekday())
}

func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
