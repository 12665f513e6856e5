package jetstream

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/understudy-go/understudy/persistence/journal"
)

// Claim implements [journal.Journal]. A claim whose outcome is not known wraps
// [journal.ErrUnknown]: claim again, which costs an epoch.
func (j *Journal) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	var claim journal.Claim
	err := j.call(ctx, "claim", id, func(ctx context.Context) error {
		e, release := j.entity(id)
		defer release()
		tries := 0
		p, err := j.change(ctx, id, e, func(_ context.Context, p *position, fresh bool) (head, []byte, error) {
			if p.forgotten() && !fresh {
				return head{}, nil, errLook // it may have been revived
			}
			if p.forgotten() {
				return head{}, nil, journal.ErrForgotten
			}
			epoch, err := journal.NextEpoch(p.epoch, b)
			if err != nil && !fresh {
				return head{}, nil, errLook // to name the newest claim
			}
			if err != nil {
				return head{}, nil, err
			}
			if tries++; tries > 1 {
				j.requestPause(id, tries)
			}
			h := p.next(kindClaim)
			h.epoch, h.writer = epoch, writer
			return h, nil, nil
		})
		if err != nil {
			return err
		}
		claim = journal.Claim{Epoch: p.epoch, LastSeq: p.last, DeletedTo: p.deletedTo}
		return nil
	})
	return claim, err
}

// A claim needs two requests: one for the last message, and one to add a message after it. A writer
// that appends without a pause needs one, and can win for seconds on replicated streams and busy
// machines. A refused claim therefore asks all journals of the stream, with a message that no
// stream keeps, to pause appends to the id. This affects only timing: the conditions of messages
// still hold.

const (
	minWritePause = 50 * time.Millisecond
	maxWritePause = time.Second
)

// requestPause asks other journals to pause writes to id. tries is the number of refused attempts.
func (j *Journal) requestPause(id string, tries int) {
	pause := min(minWritePause<<min(tries, 8), maxWritePause)
	text := j.inbox.prefix + " " + strconv.FormatInt(pause.Milliseconds(), 10) + " " + id
	_ = j.nc.Publish(j.subjects.pause(), []byte(text)) // if it is lost, the claim is tried again anyway
}

func (j *Journal) pauseWrites(m *nats.Msg) {
	from, rest, _ := strings.Cut(string(m.Data), " ")
	text, id, _ := strings.Cut(rest, " ")
	millis, err := strconv.ParseInt(text, 10, 64)
	if err != nil || from == j.inbox.prefix {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if e := j.entities[id]; e != nil {
		e.writePause.begin(min(time.Duration(millis)*time.Millisecond, maxWritePause))
	}
}

// A writePause says until when an id is not written, for the claims of others.
type writePause struct{ until atomic.Pointer[time.Time] }

func (w *writePause) begin(pause time.Duration) {
	until := time.Now().Add(pause)
	w.until.Store(&until)
}

func (w *writePause) wait(ctx context.Context) error {
	until := w.until.Load()
	if until == nil {
		return nil
	}
	w.until.CompareAndSwap(until, nil)
	timer := time.NewTimer(time.Until(*until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return unavailable(ctx, nil)
	}
}
