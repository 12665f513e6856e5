package orders

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// How orders end.
const (
	shipped   = "shipped"
	declined  = "declined"
	refused   = "refused"
	cancelled = "cancelled"
	unknown   = "unknown" // there is no such order
)

// badCard is the card that the bank declines.
const badCard = "0000"

// A purchase is an order as its customer sees it. Only its own goroutine uses it, until that has
// ended.
type purchase struct {
	id      string
	order   Order
	at      time.Time
	after   time.Duration // from then on until it is approved or cancelled
	approve *Approval     // nil if it needs none
	cancel  bool

	accepted bool // the cancellation
	end      outcome
}

// expected returns the ends that the order may have.
func (p *purchase) expected() []string {
	switch {
	case p.accepted:
		return []string{cancelled}
	case p.cancel: // it may have been too late, or the answer was lost
		return []string{shipped, cancelled}
	case p.order.Card == badCard:
		return []string{declined}
	case p.approve != nil && !p.approve.Yes:
		return []string{refused}
	}
	return []string{shipped}
}

// selling is how long customers place orders.
const selling = 30 * time.Second

// plan returns the purchases of a run. Some are big, and half of these are refused. Some have a
// card without money, and some are cancelled.
func (s settings) plan(begin time.Time) (all []*purchase) {
	for n := range s.orders {
		p := &purchase{
			id: fmt.Sprintf("%s-%d", s.run, n), order: Order{Item: "tea", Cents: 10_00 + n, Card: "1234"},
			at: begin.Add(selling * time.Duration(n) / time.Duration(s.orders)),
		}
		switch {
		case n%9 == 4:
			p.order.Cents += big
			p.approve = &Approval{By: "ann", Yes: n%2 == 0}
			p.after = time.Duration(n%40) * 200 * time.Millisecond // up to 8s: the run leaves memory
		case n%11 == 5:
			p.order.Card = badCard
		case n%8 == 2:
			p.cancel, p.after = true, time.Duration(n%13)*50*time.Millisecond
		}
		all = append(all, p)
	}
	return all
}

// pursue places the order, approves or cancels it, and waits for its end. It repeats what is not
// answered with another node.
func (p *purchase) pursue(ctx context.Context, nodes []string) error {
	if err := waitUntil(ctx, p.at); err != nil {
		return err
	}
	path, told := "orders/"+p.id, false
	if err := insist(ctx, http.MethodPut, nodes, path, p.order, &told); err != nil {
		return fmt.Errorf("place %s: %w", p.id, err)
	}
	if err := waitUntil(ctx, time.Now().Add(p.after)); err != nil {
		return err
	}
	switch {
	case p.approve != nil:
		if err := insist(ctx, http.MethodPost, nodes, path+"/approval", p.approve, &told); err != nil {
			return fmt.Errorf("approve %s: %w", p.id, err)
		}
	case p.cancel:
		if err := insist(ctx, http.MethodDelete, nodes, path, nil, &p.accepted); err != nil {
			return fmt.Errorf("cancel %s: %w", p.id, err)
		}
	}
	if err := insist(ctx, http.MethodGet, nodes, path, nil, &p.end); err != nil {
		return fmt.Errorf("the end of %s: %w", p.id, err)
	}
	return nil
}

// pursueAll begins all purchases. finished waits for their ends.
func pursueAll(ctx context.Context, all []*purchase, nodes []string) (finished func() error) {
	var running sync.WaitGroup
	errs := make([]error, len(all))
	for i, p := range all {
		at := i % len(nodes) // customers spread over the nodes
		running.Go(func() { errs[i] = p.pursue(ctx, slices.Concat(nodes[at:], nodes[:at])) })
	}
	return func() error {
		running.Wait()
		if ctx.Err() != nil {
			return errInterrupted
		}
		return firstOf(errs)
	}
}

// firstOf returns the first error, with the number of others.
func firstOf(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%w (and %d others)", errs[0], len(errs)-1)
}
