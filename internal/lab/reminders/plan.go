package reminders

import (
	"fmt"
	"time"
)

const (
	customers = 60
	early     = 280 // reminders that are set before the kill
	late      = 120 // and others, some of which are set without the node that is killed
	killAfter = 6500 * time.Millisecond
)

// plan returns the reminders of a run that begins at a full second. Many are due in the same
// second. Every seventh is cancelled when half of its time has passed.
func (s settings) plan(begin time.Time) (all []*wish) {
	for n := range early {
		ask := begin.Add(time.Duration(n) * 5 * time.Millisecond)
		all = append(all, s.wish(n, ask, begin.Add(time.Duration(3+n%11)*time.Second)))
	}
	for n := range late {
		ask := begin.Add(4*time.Second + time.Duration(n)*40*time.Millisecond)
		all = append(all, s.wish(early+n, ask, begin.Add(time.Duration(9+n%5)*time.Second)))
	}
	return all
}

func (s settings) wish(n int, ask, due time.Time) *wish {
	w := &wish{customer: s.customer(n % customers), key: fmt.Sprint("reminder-", n), ask: ask, due: due}
	if n%7 == 0 {
		w.cancel = ask.Add(due.Sub(ask) / 2)
	}
	return w
}

// customer returns the id of the n-th customer.
func (s settings) customer(n int) string { return fmt.Sprintf("%s-%d", s.run, n) }
