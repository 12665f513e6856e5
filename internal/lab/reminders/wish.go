package reminders

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// A wish is a reminder as its customer sees it: when the customer asks for it, and what the nodes
// have answered. Only its own goroutine uses it, until that has ended.
type wish struct {
	customer, key string
	ask, due      time.Time
	cancel        time.Time // zero: never

	acknowledged time.Time // zero: not
	tries        int       // until it was acknowledged
	cancelled    bool      // and acknowledged
	tooLate      bool      // so it was not cancelled
}

// pursue asks for the reminder, and cancels it if the customer wants that. It repeats what is not
// answered with another node.
func (w *wish) pursue(ctx context.Context, nodes []string) error {
	if err := waitUntil(ctx, w.ask); err != nil {
		return err
	}
	query := url.Values{"at": {w.due.Format(time.RFC3339Nano)}, "text": {"text of " + w.key}}.Encode()
	var set bool
	tries, err := insist(ctx, http.MethodPut, nodes, w.path()+"?"+query, &set)
	if err != nil {
		return fmt.Errorf("set %s of %s: %w", w.key, w.customer, err)
	}
	w.tries, w.acknowledged = tries, time.Now()
	if w.cancel.IsZero() {
		return nil
	}
	if err := waitUntil(ctx, w.cancel); err != nil {
		return err
	}
	if _, err := insist(ctx, http.MethodDelete, nodes, w.path(), &w.cancelled); err != nil {
		return fmt.Errorf("cancel %s of %s: %w", w.key, w.customer, err)
	}
	w.tooLate = !w.cancelled
	return nil
}

func (w *wish) path() string { return w.customer + "/" + w.key }

// expected reports whether the reminder has to be delivered.
func (w *wish) expected() bool { return !w.acknowledged.IsZero() && !w.cancelled }

// possible returns when the reminder could be delivered. One that was acknowledged after its due
// time because a node was down is not late before that.
func (w *wish) possible() time.Time {
	if w.acknowledged.After(w.due) {
		return w.acknowledged
	}
	return w.due
}
