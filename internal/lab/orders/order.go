package orders

import (
	"context"
	"errors"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/workflow"
)

type (
	// An Order is the input of a run.
	Order struct {
		Item  string
		Cents int
		Card  string
	}
	// A Receipt is the result of a run that has shipped its order.
	Receipt struct {
		Charged  int // in cents
		Notified bool
	}
	// An Approval is the signal of the person who looks at big orders.
	Approval struct {
		By  string
		Yes bool
	}
)

// big is from how many cents on an order needs an approval.
const big = 1000_00

var (
	errDeclined = errors.New("the card was declined")
	errRefused  = errors.New("the order was refused")
	// errUndone is the error of what comes after its compensation.
	errUndone = errors.New("it was undone before")
)

func init() {
	actor.RegisterType[Order]("orders.order")
	actor.RegisterType[Receipt]("orders.receipt")
	actor.RegisterType[Approval]("orders.approval")
	actor.RegisterError("orders.declined", errDeclined)
	actor.RegisterError("orders.refused", errRefused)
	actor.RegisterError("orders.undone", errUndone)
}

// A shop is what the runs of one node work with.
type shop struct {
	services services
	version  int
}

// patient is how often a step asks a service that is busy, or whose answer is lost.
var patient = workflow.Retry(50, actor.Backoff{Min: 100 * time.Millisecond, Max: 2 * time.Second, Jitter: 0.2})

// fulfil is the function of runs. What undoes a step is registered before it: a step that was
// cancelled may have reached its service, which knows whether there is something to undo.
func (s *shop) fulfil(w *workflow.Run, o Order) (r Receipt, err error) {
	id := w.ID()
	w.Compensate("release", s.undo("release", id))
	if err := workflow.Do(w, "reserve", func(ctx context.Context) error { return s.services.reserve(ctx, id) }, patient); err != nil {
		return r, err
	}
	if o.Cents >= big {
		approval, err := workflow.Await[Approval](w, "approval", 7*24*time.Hour)
		if err != nil {
			return r, err
		}
		if !approval.Yes {
			return r, errRefused
		}
	}
	w.Compensate("refund", s.undo("refund", id))
	r.Charged, err = workflow.Step(w, "charge", func(ctx context.Context) (int, error) { return s.services.charge(ctx, id, o) }, patient)
	if err != nil {
		return r, err
	}
	// An order that is cancelled while the program is replaced may have been shipped by version 1,
	// and does not come beyond the step that is new. So what undoes later steps stands before it.
	w.Compensate("recall", s.undo("recall", id))
	if s.version >= 2 {
		if err := workflow.Do(w, "notify", func(ctx context.Context) error { return s.services.notify(ctx, id) }, patient); err != nil {
			return r, err
		}
		r.Notified = true
	}
	return r, workflow.Do(w, "ship", func(ctx context.Context) error { return s.services.ship(ctx, id) }, patient)
}

func (s *shop) undo(what, id string) func(context.Context) error {
	return func(ctx context.Context) error { return s.services.undo(ctx, what, id) }
}
