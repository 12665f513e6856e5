package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/understudy-go/understudy/persistence/journal"
)

// An entity is the cached state of a persistence id, so that an append takes one request. It may be
// outdated; the server then refuses the message.
type entity struct {
	subject    string
	turn       chan struct{} // holds a token while the id is being changed
	saving     chan struct{} // holds a token while its snapshots are being changed; taken before turn
	seen       atomic.Uint64 // the latest message that the server has shown or acknowledged
	writePause writePause
	users      int // guarded by the journal's mu

	known bool // pos is valid; the holder of turn owns known and pos
	pos   position
}

// maxEntities is how many unused entities a journal remembers at least.
const maxEntities = 1 << 16

func (j *Journal) entity(id string) (e *entity, release func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e = j.entities[id]
	if e == nil {
		j.forgetSome()
		e = &entity{subject: j.subjects.entity(id), turn: make(chan struct{}, 1), saving: make(chan struct{}, 1)}
		j.entities[id] = e
	}
	e.users++
	return e, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		e.users--
	}
}

// The caller holds mu.
func (j *Journal) forgetSome() {
	if len(j.entities) < maxEntities {
		return
	}
	n := 0
	for id, e := range j.entities {
		if e.users == 0 {
			delete(j.entities, id)
		}
		if n++; n == maxEntities/64 {
			return
		}
	}
}

func take(ctx context.Context, turn chan struct{}) (release func(), err error) {
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, unavailable(ctx, nil)
	}
}

// position returns the position of id from the leader of the stream.
func (j *Journal) position(ctx context.Context, id string, e *entity) (position, error) {
	for n := 1; ; n++ {
		seen := e.seen.Load()
		p, err := j.positionAt(ctx, id, e.subject)
		if err != nil {
			return position{}, err
		}
		if p.at >= seen {
			e.saw(p.at)
			return p, nil
		}
		if n == attempts {
			return position{}, fmt.Errorf("%w: the stream ends at message %d of the id, but has shown or acknowledged message %d: it lags behind, or has lost messages", journal.ErrUnavailable, p.at, seen)
		}
		if err := backOff(ctx, n+3); err != nil {
			return position{}, unavailable(ctx, err)
		}
	}
}

func (j *Journal) positionOnce(ctx context.Context, id string) (position, error) {
	return j.positionAt(ctx, id, j.subjects.entity(id))
}

// positionAt returns the position in the last message at subject. A server with a damaged file may
// report no last message, and would accept the first claim of an id that has a history. positionAt
// therefore asks whether the subject has other messages.
func (j *Journal) positionAt(ctx context.Context, id, subject string) (position, error) {
	m, err := j.last(ctx, subject)
	if errors.Is(err, errMissing) {
		var other message
		if other, err = j.askLeader(ctx, j.events, leaderRequest{Seq: 1, NextFor: subject}); errors.Is(err, errMissing) {
			return position{}, nil
		}
		if err == nil { // it may be the first, stored meanwhile
			if m, err = j.last(ctx, subject); errors.Is(err, errMissing) {
				err = corrupt("the last message of the id cannot be read, but others can, such as %d", other.at)
			}
		}
	}
	if err != nil {
		return position{}, err
	}
	h, _, err := decodeHead(id, m.data)
	return position{head: h, at: m.at}, err
}

func (e *entity) saw(at uint64) {
	for {
		seen := e.seen.Load()
		if seen >= at || e.seen.CompareAndSwap(seen, at) {
			return
		}
	}
}
