package jetstream

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// A claim needs two requests: one for the last message, and one to add a message after it. A writer
// that appends without a pause needs one, and can win for seconds on replicated streams and busy
// machines. A refused claim therefore asks all journals of the stream, with a message that no
// stream keeps, to pause appends to the id. This affects only timing: the conditions of messages
// still hold.

const (
	firstRoom   = 50 * time.Millisecond
	largestRoom = time.Second
)

// askForRoom asks other journals to pause writes to id. tries is the number of refused attempts.
func (j *Journal) askForRoom(id string, tries int) {
	pause := min(firstRoom<<min(tries, 8), largestRoom)
	text := j.inbox.prefix + " " + strconv.FormatInt(pause.Milliseconds(), 10) + " " + id
	_ = j.nc.Publish(j.subjects.room(), []byte(text)) // if it is lost, the claim is tried again anyway
}

// makeRoom handles such a request of another journal.
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
