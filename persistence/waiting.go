package persistence

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/tenure"
)

// tardy is how long the journal may take to answer until the asks that wait for the actor are told.
const tardy = time.Second

// An obstacle tells the asks that wait for the actor, and those that come, that the journal keeps
// it from going on. Only the actor uses it, except for the timer of a recovery.
type obstacle struct {
	of    *entity
	told  bool        // there are asks that have been told, or may be
	timer *time.Timer // of the appends that are waited for; nil before the first
}

// is tells the asks. inside is false for another goroutine while the actor recovers.
func (o *obstacle) is(why error, inside bool) {
	why = fmt.Errorf("%q waits for its journal: %w", o.of.id, why)
	extension.ExplainWaiting(o.of.ctx, why, inside)
	tenure.Of(o.of.ctx).Waits(o.of.self.Path(), why)
}

// failed tells them about a request that is sent again.
func (o *obstacle) failed(err error) {
	o.told = true
	o.is(err, true)
}

// hangs tells them about an append that began at that time, and was not answered.
func (o *obstacle) hangs(begun time.Time) {
	o.failed(fmt.Errorf("%w: it has not answered the append that began at %s", ErrUnknown, clock(begun)))
}

// isOver takes back what they were told.
func (o *obstacle) isOver() {
	if o.told {
		o.told = false
		extension.ExplainWaiting(o.of.ctx, nil, true)
	}
}

// call calls the store, and tells the asks if that takes long. The one timer costs little while
// nothing is late.
func (o *obstacle) call(ctx context.Context, op string, work func() error) error {
	if o.timer == nil {
		o.timer = time.NewTimer(tardy)
	} else {
		o.timer.Reset(tardy)
	}
	defer o.timer.Stop()
	by := o.of.caller
	by.late = o
	return by.call(ctx, op, work)
}

// A recovering tells the asks if a recovery takes long.
type recovering struct {
	obstacle *obstacle
	begun    time.Time
	timer    *time.Timer

	mu   sync.Mutex // held while they are told; guards over
	over bool
}

func (o *obstacle) recovers() *recovering {
	r := &recovering{obstacle: o, begun: time.Now()}
	r.timer = time.AfterFunc(tardy, r.late)
	return r
}

func (r *recovering) late() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.obstacle.is(fmt.Errorf("%w: the recovery that began at %s goes on, or waits for others", ErrUnavailable, clock(r.begun)), false)
	}
}

// end returns when they are not told any more.
func (r *recovering) end() {
	r.timer.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// taken yields the commands of an actor that are not in its mailbox any more.
func taken(e *entity) iter.Seq[extension.Described[any]] {
	return func(yield func(extension.Described[any]) bool) {
		for _, all := range [][]command{{e.pending.cmd}, e.commands.turn, e.commands.stashed} {
			for _, cmd := range all {
				if !yield(extension.Described[any]{Message: cmd.msg, Metadata: cmd.metadata}) {
					return
				}
			}
		}
	}
}
