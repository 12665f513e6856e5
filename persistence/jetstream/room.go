package jetstream

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// Whoever claims needs two requests: for the last message, and to add one after it. An owner
// who appends without a pause needs one, and so may win for seconds on replicated streams
// and busy machines. So who is refused asks all journals of the stream to let nobody but
// claims in for a moment, by a message that nobody stores. It is a matter of time only: the
// conditions of messages hold as ever.

const (
	firstRoom   = 50 * time.Millisecond
	largestRoom = time.Second
)

// askForRoom asks other journals to wait with what they write to id. Tries is how often
// somebody else has been faster.
func (j *Journal) askForRoom(id string, tries int) {
	pause := min(firstRoom<<min(tries, 8), largestRoom)
	text := j.inbox.prefix + " " + strconv.FormatInt(pause.Milliseconds(), 10) + " " + id
	_ = j.nc.Publish(j.subjects.room(), []byte(text)) // if it gets lost, luck decides
}

// makeRoom hears what others ask for.
func (j *Journal) makeRoom(m *nats.Msg) {
	from, rest, _ := strings.Cut(string(m.Data), " ")
	text, id, _ := strings.Cut(rest, " ")
	millis, err := strconv.ParseInt(text, 10, 64)
	if err != nil || from == j.inbox.prefix {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if e := j.entities[id]; e != nil {
		e.room.keep(min(time.Duration(millis)*time.Millisecond, largestRoom))
	}
}

// A room is kept free for claims of others until a moment.
type room struct{ until atomic.Pointer[time.Time] }

func (r *room) keep(pause time.Duration) {
	until := time.Now().Add(pause)
	r.until.Store(&until)
}

// wait waits while the room is kept free.
func (r *room) wait(ctx context.Context) error {
	until := r.until.Load()
	if until == nil {
		return nil
	}
	r.until.CompareAndSwap(until, nil)
	timer := time.NewTimer(time.Until(*until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return unavailable(ctx, nil)
	}
}
