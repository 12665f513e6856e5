package jetstream

import (
	"context"
	"errors"
	"fmt"
	"github.com/understudy-go/understudy/persistence/journal"
)

var (
	// errLook is what a decision says that does not like a position which may be outdated.
	errLook = errors.New("jetstream: look again")
	// errDone is what it says when nothing needs to be stored.
	errDone = errors.New("jetstream: nothing to store")
)

// A decision makes the next message of an id from where the id is now. Fresh says that the
// server has been asked in this call. It may be asked again, for another position.
type decision func(ctx context.Context, p *position, fresh bool) (h head, body []byte, err error)

// change stores what decide makes, and returns the position after it. It takes the turn of
// e.
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

// An attempt was refused because the message at at was not the last one.
type attempt struct {
	made bool
	at   uint64
	n    int // how often in a row
}

// maxRefusals is how often an attempt is repeated that should not have been refused: some
// seconds.
const maxRefusals = 20

// wait waits if the last message is still the one of the attempt: then another's is on its
// way through the replicas.
func (a *attempt) wait(ctx context.Context, at uint64) error {
	if !a.made || a.at != at {
		a.n = 0
		return nil
	}
	if a.n++; a.n == maxRefusals {
		return fmt.Errorf("%w: the server refuses what follows message %d, and has no later one", journal.ErrUnavailable, at)
	}
	if err := pause(ctx, a.n); err != nil {
		return unavailable(ctx, err)
	}
	return nil
}

// step stores the decision on the position that e knows. Afterwards e knows the new one,
// or, when it cannot be sure, none.
func (j *Journal) step(ctx context.Context, id string, e *entity, decide decision, fresh bool) error {
	h, body, err := decide(ctx, &e.pos, fresh)
	if errors.Is(err, errDone) {
		return nil
	}
	if err != nil {
		return err
	}
	if h.kind != kindClaim {
		if err := e.room.wait(ctx); err != nil {
			return err
		}
	}
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

// fence refuses everybody but the writer of the newest claim.
func (p *position) fence(epoch uint64, fresh bool) error {
	switch {
	case p.epoch == epoch && epoch > 0:
		return nil
	case p.epoch > epoch: // it never goes back
		return fmt.Errorf("%w: epoch %d, the newest is %d", journal.ErrFenced, epoch, p.epoch)
	case !fresh:
		return errLook
	case p.epoch == 0:
		return fmt.Errorf("%w: it has never been claimed", journal.ErrFenced)
	}
	return fmt.Errorf("%w: epoch %d, the newest is %d", journal.ErrFenced, epoch, p.epoch)
}
