package calendar

import "time"

// MaxCount is up to which number [Calendar.Between] counts.
const MaxCount = 10_000

// Between returns the last times after from and not after to, at most the given number of them, in
// order. count is how many there are in all, or MaxCount if there are more.
func (c *Calendar) Between(from, to time.Time, atMost int) (last []time.Time, count int) {
	last, more := c.first(from, to, MaxCount)
	count = len(last)
	for ago := time.Hour; more; ago *= 2 { // those of a long time are not all looked at
		since := to.Add(-ago)
		if !since.After(from) {
			break
		}
		later, _ := c.first(since, to, MaxCount)
		if len(later) >= atMost {
			last, more = later, false
		}
	}
	return last[max(len(last)-atMost, 0):], count
}

// first returns the first times after from and not after to. more is whether there are others.
func (c *Calendar) first(from, to time.Time, atMost int) (all []time.Time, more bool) {
	for at := c.Next(from); !at.IsZero() && !at.After(to); at = c.Next(at) {
		if len(all) == atMost {
			return all, true
		}
		all = append(all, at)
	}
	return all, false
}
