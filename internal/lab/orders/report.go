package orders

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A report compares what the customers know with the ledger of the services.
type report struct {
	orders   int
	ends     map[string]int
	notified int

	requests, again, refused, busy int // in the ledger
	charges, refunds               int // in cents

	broken map[string][]string // ids of orders, by what is wrong
	lines  map[string][]string // of the ledger, by order
}

// account is what the services have done for one order.
type account map[string]int

// compare expects that nothing more can happen.
func compare(all []*purchase, log []entry) report {
	r := report{orders: len(all), ends: map[string]int{}, requests: len(log), broken: map[string][]string{}, lines: map[string][]string{}}
	accounts := r.read(log)
	for _, p := range all {
		r.add(p, accounts[p.id])
		delete(accounts, p.id)
	}
	for id := range accounts {
		r.wrong("were never placed", id)
	}
	return r
}

func (r *report) wrong(what, id string) {
	if !slices.Contains(r.broken[what], id) {
		r.broken[what] = append(r.broken[what], id)
	}
}

// read reads the ledger. Whatever the services have decided, nothing may be done for a process
// after a request of its successor.
func (r *report) read(log []entry) map[string]account {
	accounts, highest := map[string]account{}, map[string]uint64{}
	for _, e := range log {
		if accounts[e.order] == nil {
			accounts[e.order] = account{}
		}
		r.lines[e.order] = append(r.lines[e.order], e.String())
		switch {
		case e.status == http.StatusPreconditionFailed:
			r.refused++
		case e.status == http.StatusServiceUnavailable:
			r.busy++
		case e.again:
			r.again++
		}
		if e.did {
			r.did(e, accounts[e.order])
			if e.token < highest[e.order] {
				r.wrong("were worked on by a process that was replaced", e.order)
			}
		}
		highest[e.order] = max(highest[e.order], e.token)
	}
	return accounts
}

func (r *report) did(e entry, a account) {
	a[e.what]++
	switch e.what {
	case "charge":
		r.charges += e.cents
		a["paid"] += e.cents
	case "refund":
		r.refunds += e.cents
		a["paid"] -= e.cents
	case "notify":
		r.notified++
	}
}

// add adds an order with what the services have done for it.
func (r *report) add(p *purchase, a account) {
	r.ends[p.end.End]++
	r.lines[p.id] = append(r.lines[p.id], "it has ended as "+p.end.End)
	check := func(ok bool, what string) {
		if !ok {
			r.wrong(what, p.id)
		}
	}
	check(slices.Contains(p.expected(), p.end.End), "have an end that they must not have")
	for _, what := range []string{"reserve", "charge", "notify", "ship", "release", "refund", "recall"} {
		check(a[what] <= 1, "have more than one "+what)
	}
	if p.end.End == shipped {
		check(a["charge"] == 1 && a["refund"] == 0 && a["paid"] == p.order.Cents && p.end.Receipt.Charged == p.order.Cents, "were shipped and not charged as they should")
		check(a["reserve"] == 1 && a["release"] == 0 && a["ship"] == 1 && a["recall"] == 0, "were shipped without their goods")
		check(a["notify"] == 1 || !p.end.Receipt.Notified, "were not notified, and their receipt says so")
		return
	}
	check(a["paid"] == 0, "were not shipped, and their money was kept")
	check(p.end.End != declined && p.end.End != refused || a["charge"] == 0, "were declined or refused, and charged")
	check(a["reserve"] == a["release"] && a["ship"] == a["recall"], "were not shipped, and their goods did not come back")
}

func (r report) print() {
	fmt.Printf("%d orders: %d shipped, %d declined, %d refused, %d cancelled\n",
		r.orders, r.ends[shipped], r.ends[declined], r.ends[refused], r.ends[cancelled])
	fmt.Printf("the services got %d requests: %d came again, %d came from processes that were replaced, and %d too many at once\n",
		r.requests, r.again, r.refused, r.busy)
	fmt.Printf("charged %s EUR, refunded %s EUR; %d customers were notified\n", euros(r.charges), euros(r.refunds), r.notified)
	if len(r.broken) == 0 {
		fmt.Println("by the ledger, each order was charged once or not at all, as it should be, and none by a process that was replaced")
	}
}

func euros(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// verdict returns an error for each promise that was broken.
func (r report) verdict() error {
	var errs []error
	for what, ids := range r.broken {
		slices.Sort(ids)
		errs = append(errs, fmt.Errorf("%d orders %s; the first is %s:\n  %s", len(ids), what, ids[0], strings.Join(r.lines[ids[0]], "\n  ")))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if len(errs) > 0 {
		errs = append(errs, errors.New("please report it, with the output above"))
	}
	return errors.Join(errs...)
}
