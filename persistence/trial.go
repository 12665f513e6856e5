package persistence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A trial reads everything that an actor has stored, goes on after what it cannot use, and encodes
// again what it has read. Like a look it claims nothing and writes nothing.
type trial struct {
	*entity
	*inspect.Trial
	alone states     // by the events, after the oldest snapshot if older ones are deleted; nil once that is impossible
	after states     // begun with the newest snapshot; nil before
	from  []restored // snapshots that can be decoded, the newest first
	seq   uint64     // of the last event
}

type restored struct {
	seq   uint64
	state any
}

func try(ctx context.Context, e *entity, of *inspect.Trial) (inspect.Found, error) {
	t := &trial{entity: e, Trial: of, alone: e.user.begin(nil)}
	var err error
	if last, ok := e.journal.(*stateJournal); ok {
		err = t.lastState(ctx, last)
	} else {
		err = t.run(ctx)
	}
	if err != nil {
		return inspect.Found{}, fmt.Errorf("try %q: %w", e.id, err)
	}
	return t.found(), nil
}

func (t *trial) run(ctx context.Context) error {
	t.Takes = t.definition.snapshots()
	if err := errors.Join(t.loadSnapshots(ctx), t.loadTimers(ctx)); err != nil {
		return err
	}
	for r, err := range t.journal.Read(ctx, t.id, 1, math.MaxInt64) {
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			t.lose(inspect.Fault{Kind: inspect.FaultRead, Seq: t.seq + 1, Text: guard.Text(err)})
			return nil
		}
		if err := t.event(&r); err != nil {
			return err
		}
	}
	if len(t.from) > 0 && t.from[0].seq >= t.seq { // of the last event, or later ones are deleted
		t.begin(&t.after, t.from[0].seq)
	}
	if t.alone == nil && t.after == nil && len(t.Faults) == 0 && t.Events > 0 {
		t.Fault(inspect.Fault{Kind: inspect.FaultRead, Text: "events are deleted, and no snapshot that can be used has them"})
	}
	return nil
}

// loadSnapshots tries each snapshot, the newest first.
func (t *trial) loadSnapshots(ctx context.Context) error {
	if t.store == nil {
		return nil
	}
	for before := uint64(math.MaxInt64); before > 0; {
		s, ok, damaged, err := t.store.LoadSnapshot(ctx, t.id, before)
		if errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, seq := range damaged {
			t.Fault(inspect.Fault{Kind: inspect.FaultSnapshot, Seq: seq, Text: ErrCorrupt.Error()})
		}
		if !ok || s.Seq == 0 {
			return nil
		}
		t.Snapshots++
		before = s.Seq - 1
		if s.Shredded {
			continue
		}
		state, _, err := t.stateOf(&s)
		switch {
		case err != nil:
			t.Fault(inspect.Fault{Kind: inspect.FaultSnapshot, Seq: s.Seq, Type: s.Type, Text: guard.Text(err)})
		default:
			t.from = append(t.from, restored{s.Seq, state})
		}
	}
	return nil
}

// loadTimers tries the message of each timer.
func (t *trial) loadTimers(ctx context.Context) error {
	if t.timerStore == nil {
		return nil
	}
	timers, err := t.timerStore.Timers(ctx, t.id)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	for _, timer := range timers {
		if timer.Shredded {
			continue
		}
		err := guard.Run(func() error {
			_, err := unpack(t.ctx.System(), t.user.types().command, timer.Type, timer.Payload)
			return err
		})
		if err != nil {
			t.Fault(inspect.Fault{Kind: inspect.FaultTimer, Type: timer.Type, Text: fmt.Sprintf("timer %q: %s", timer.Key, guard.Text(err))})
		}
	}
	return err
}

// begin makes at the snapshot after the event at seq, if there is one.
func (t *trial) begin(at *states, seq uint64) {
	for _, s := range t.from {
		if s.seq == seq {
			*at = t.user.begin(s.state)
			t.seq = seq
		}
	}
}

// lose notes that the states end here.
func (t *trial) lose(f inspect.Fault) {
	t.Fault(f)
	t.alone, t.after = nil, nil
}

func (t *trial) event(r *journal.Record) error {
	if r.Seq != t.seq+1 { // the events before are deleted
		t.alone, t.after = nil, nil
		t.begin(&t.alone, r.Seq-1)
	}
	if len(t.from) > 0 && t.from[0].seq == r.Seq-1 {
		t.begin(&t.after, r.Seq-1)
	}
	t.seq = r.Seq
	t.Events++
	if r.Shredded {
		return nil
	}
	events, err := t.decoded(r)
	if err != nil {
		t.lose(inspect.Fault{Kind: inspect.FaultEvent, Seq: r.Seq, Type: r.Type, Text: guard.Text(err)})
		return nil
	}
	now := t.applied(r, events)
	if now == nil || t.Wrote == nil || len(now) == 1 && stays(r, &now[0]) {
		return nil
	}
	return t.Wrote(r.Seq, now)
}

// decoded returns the events that the event handler gets for r.
func (t *trial) decoded(r *journal.Record) (events []any, err error) {
	err = guard.Run(func() error {
		if t.adapts {
			stored, err := Stored(t.ctx.System(), r)
			if err != nil {
				return err
			}
			events = []any{}
			return t.user.adapt(t.user.begin(nil), stored, func(event any) { events = append(events, event) })
		}
		event, err := unpack(t.ctx.System(), t.user.types().event, r.Type, r.Payload)
		events = []any{event}
		return err
	})
	return events, err
}

// applied applies events to the states. It returns what the actor would store for them, or nil if
// that is not known.
func (t *trial) applied(r *journal.Record, events []any) (now []inspect.Stored) {
	sound := true
	for _, at := range []*states{&t.alone, &t.after} {
		if *at == nil {
			continue
		}
		made, failed := t.appliedTo(*at, r, events)
		switch {
		case failed != nil:
			*at, sound = nil, false
			t.Fault(inspect.Fault{Kind: inspect.FaultHandler, Seq: r.Seq, Type: r.Type, Text: guard.Text(failed)})
		case now == nil:
			now = made
		}
	}
	if !sound {
		return nil
	}
	return now
}

func (t *trial) appliedTo(at states, r *journal.Record, events []any) (now []inspect.Stored, err error) {
	now = []inspect.Stored{}
	err = guard.Run(func() error {
		for _, event := range events {
			a := t.user.add(at, addition{event: event, seq: r.Seq})
			record, err := t.record(&a)
			if err != nil {
				t.Fault(inspect.Fault{Kind: inspect.FaultEncoding, Seq: r.Seq, Type: r.Type, Text: guard.Text(err)})
				continue
			}
			if len(events) == 1 && !slices.Equal(a.tags, r.Tags) {
				t.Tag(inspect.Tagged{Seq: r.Seq, Type: r.Type, Was: r.Tags, Now: a.tags})
			}
			now = append(now, inspect.Stored{Type: record.Type, Meta: metaLike(r, record.Meta[versionKey]), Payload: record.Payload})
		}
		return nil
	})
	return now, err
}

// metaLike returns the metadata of r with another version of the event.
func metaLike(r *journal.Record, version string) map[string]string {
	m := map[string]string{}
	maps.Copy(m, r.Meta)
	if delete(m, versionKey); version != "" {
		m[versionKey] = version
	}
	return m
}

func stays(r *journal.Record, now *inspect.Stored) bool {
	return r.Type == now.Type && r.Meta[versionKey] == now.Meta[versionKey] && bytes.Equal(r.Payload, now.Payload)
}

// lastState tries the last record of a durable state.
func (t *trial) lastState(ctx context.Context, from *stateJournal) error {
	var last *journal.Record
	for r, err := range from.Journal.Read(ctx, t.id, 1, math.MaxInt64) {
		if err != nil {
			return err
		}
		t.Events++
		last = &r
	}
	t.alone = nil
	if err := t.loadTimers(ctx); err != nil {
		return err
	}
	if last == nil || last.Shredded {
		return nil
	}
	t.seq = last.Seq
	err := guard.Run(func() error { return from.check(last) })
	var state any
	if err == nil {
		state, _, err = t.stateOf(&journal.Snapshot{Seq: last.Seq, Type: last.Type, Payload: last.Payload})
	}
	if err != nil {
		t.Fault(inspect.Fault{Kind: inspect.FaultEvent, Seq: last.Seq, Type: last.Type, Text: guard.Text(err)})
		return nil
	}
	t.after = t.user.begin(state)
	if now := t.saved(state, inspect.Fault{Seq: last.Seq, Type: last.Type}); now != nil && t.Wrote != nil && !stays(last, now) {
		now.Meta = metaLike(last, last.Meta[versionKey])
		return t.Wrote(last.Seq, []inspect.Stored{*now})
	}
	return nil
}

func (t *trial) found() inspect.Found {
	f := inspect.Found{ID: t.id, Seq: t.seq}
	value := func(at states) (any, bool) {
		if at == nil {
			return nil, false
		}
		t.user.commit(at)
		return t.user.value(at), true
	}
	t.Alone, t.Replays = value(t.alone)
	if f.State, t.Recovers = value(t.after); t.after == nil {
		f.State, t.Recovers = t.Alone, t.Replays
	}
	if t.Takes && t.Recovers {
		t.Saved = t.saved(f.State, inspect.Fault{Seq: t.seq})
	}
	return f
}

// saved returns a state in its stored form. Without one, f becomes a fault.
func (t *trial) saved(state any, f inspect.Fault) *inspect.Stored {
	var p extension.Payload
	err := guard.Run(func() (err error) { p, err = t.pack(state); return err })
	if err != nil {
		f.Kind, f.Text = inspect.FaultEncoding, guard.Text(err)
		t.Fault(f)
		return nil
	}
	return &inspect.Stored{Type: p.Type, Payload: p.Data}
}
