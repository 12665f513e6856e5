package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/persistence/journal"
)

var (
	// errLook is returned by a decision that rejects a position that may be outdated.
	errLook = errors.New("jetstream: look again")
	// errDone is returned by a decision if nothing needs to be stored.
	errDone = errors.New("jetstream: nothing to store")
)

// A decision makes the next message of an id from its position. fresh says that the server has been
// asked for the position in this call. A decision may be called again, with another position.
type decision func(ctx context.Context, p *position, fresh bool) (h head, body []byte, err error)

// change stores the message that decide makes, and returns the position after it. It takes the turn
// of e.
func (j *Journal) change(ctx context.Context, id string, e *entity, decide decision) (position, error) {
	release, err := take(ctx, e.turn)
	if err != nil {
		return position{}, err
	}
	defer release()
	fresh := false
	var refused attempt
	for {
		if !e.known {
			if e.pos, err = j.position(ctx, id, e); err != nil {
				return position{}, err
			}
			fresh, e.known = true, true
			if err := refused.wait(ctx, e.pos.at); err != nil {
				return position{}, err
			}
		}
		err = j.step(ctx, id, e, decide, fresh)
		switch {
		case errors.Is(err, errStale):
			refused.made, refused.at = true, e.pos.at
		case errors.Is(err, errLook) && !fresh:
			e.known = false
		default:
			return e.pos, err
		}
	}
}

// An attempt is a change that was refused because the message at at was not the last one.
type attempt struct {
	made bool
	at   uint64
	n    int // how many times in a row
}

// maxRefusals is how many times an attempt is repeated that should not have been refused. The
// attempts take a few seconds.
const maxRefusals = 20

// wait waits if the last message is still the one of the attempt: a message of another writer is
// then being replicated.
func (a *attempt) wait(ctx context.Context, at uint64) error {
	if !a.made || a.at != at {
		a.n = 0
		return nil
	}
	if a.n++; a.n == maxRefusals {
		return fmt.Errorf("%w: the server refuses what follows message %d, and has no later one", journal.ErrUnavailable, at)
	}
	if err := backOff(ctx, a.n); err != nil {
		return unavailable(ctx, err)
	}
	return nil
}

// step stores the decision on the position that e knows. Afterwards e knows the new position, or no
// position if the outcome is uncertain.
func (j *Journal) step(ctx context.Context, id string, e *entity, decide decision, fresh bool) error {
	h, body, err := decide(ctx, &e.pos, fresh)
	if errors.Is(err, errDone) {
		return nil
	}
	if err != nil {
		return err
	}
	if h.kind != kindClaim {
		if err := e.writePause.wait(ctx); err != nil {
			return err
		}
	}
	// The server stores the message only if e.pos.at is the last one of the subject. A position
	// that is out of date therefore costs one more request, and never overwrites what another
	// writer stored.
	at, err := j.publish(ctx, e.subject, append(h.encode(id), body...), e.pos.at)
	switch {
	case err == nil:
		e.pos = position{head: h, at: at}
		e.saw(at)
	case errors.Is(err, errStale), errors.Is(err, journal.ErrUnknown):
		e.known = false
	}
	return err
}

// fence returns an error unless the caller has the newest claim.
func (p *position) fence(epoch uint64, fresh bool) error {
	switch {
	case p.forgotten() && fresh:
		return journal.ErrForgotten
	case p.forgotten():
		return errLook
	case p.epoch == epoch && epoch > 0:
		return nil
	case p.epoch > epoch, fresh: // epochs never decrease
		return &journal.FencedError{Epoch: epoch, Newest: p.epoch}
	}
	return errLook
}
