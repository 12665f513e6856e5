package reminders

import (
	"errors"
	"fmt"
	"time"
)

// An id is the id of a delivery.
type id struct {
	customer, key string
	due           int64 // in nanoseconds: a time that has crossed the wire differs in its location
}

func (w *wish) id() id    { return id{w.customer, w.key, w.due.UnixNano()} }
func (d delivery) id() id { return id{d.Customer, d.Key, d.Due.UnixNano()} }

// A report compares what the customers know with what the recipient has logged.
type report struct {
	asked, acknowledged, repeated int // reminders
	cancelled, tooLate            int // of the cancellations
	revived                       int // cancelled and delivered
	expected, arrived, woken      int // of the others
	unknown                       int // deliveries of reminders that nobody has set
	twice, masked                 int // delivered more than once; of these, without an Attempt above 1
	before, after                 []time.Duration
}

// compare expects that nothing more can be delivered.
func compare(all []*wish, log []receipt, killed time.Time) (r report) {
	arrived := map[id][]receipt{}
	for _, one := range log {
		arrived[one.id()] = append(arrived[one.id()], one)
	}
	for _, w := range all {
		r.add(w, arrived[w.id()], killed)
		delete(arrived, w.id())
	}
	for _, strays := range arrived {
		r.unknown += len(strays)
	}
	return r
}

// add adds a reminder with its deliveries, in their order.
func (r *report) add(w *wish, got []receipt, killed time.Time) {
	r.asked++
	if !w.acknowledged.IsZero() {
		r.acknowledged++
	}
	if w.tries > 1 {
		r.repeated++
	}
	if w.tooLate {
		r.tooLate++
	}
	if w.cancelled {
		r.cancelled++
		r.revived += min(len(got), 1)
	}
	if w.expected() {
		r.expected++
		r.arrived += min(len(got), 1)
	}
	if len(got) == 0 {
		return
	}
	if got[0].Woken {
		r.woken++
	}
	r.repetitions(got)
	lateness := max(got[0].at.Sub(w.possible()), 0)
	if got[0].at.Before(killed) {
		r.before = append(r.before, lateness)
	} else {
		r.after = append(r.after, lateness)
	}
}

// repetitions looks at all deliveries of one reminder. Those after the first must have an Attempt
// above 1.
func (r *report) repetitions(got []receipt) {
	if len(got) < 2 {
		return
	}
	r.twice++
	for _, again := range got[1:] {
		if again.Attempt < 2 {
			r.masked++
			return
		}
	}
}

func (r report) print() {
	fmt.Printf("%d reminders were set: %d acknowledged, %d of them after a repeated request\n", r.asked, r.acknowledged, r.repeated)
	fmt.Printf("%d were cancelled, and %d of these delivered; %d could not be cancelled any more\n", r.cancelled, r.revived, r.tooLate)
	fmt.Printf("%d of %d others were delivered, %d of them by an entity that slept\n", r.arrived, r.expected, r.woken)
	fmt.Printf("delivered more than once: %d, and %d of these without an Attempt above 1\n", r.twice, r.masked)
	fmt.Printf("late before the kill: %s\n", quantiles(r.before))
	fmt.Printf("late after the kill:  %s\n", quantiles(r.after))
}

// verdict returns an error for each promise that was broken.
func (r report) verdict() error {
	broken := func(n int, what string) error {
		if n == 0 {
			return nil
		}
		return fmt.Errorf("%d reminders %s; please report it, with the output above", n, what)
	}
	return errors.Join(
		broken(r.asked-r.acknowledged, "were not acknowledged"),
		broken(r.revived, "were cancelled and delivered"),
		broken(r.expected-r.arrived, "were acknowledged and not delivered"),
		broken(r.masked, "were delivered more than once without an Attempt above 1"),
		broken(r.unknown, "were delivered that nobody has set"),
	)
}
