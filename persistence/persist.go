package persistence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/tracecontext"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A batch is the append of one effect. Until it is stored, the next state is the one after it.
type batch struct {
	req journal.AppendRequest
	due bool // a snapshot is due after it

	keyed *keyed // the key of its command, nil for none
	since uint64 // see keys
}

// stored continues after the attempt to store b, the events of plan; err is its outcome. Commands
// and signals see the new state from here on.
func (e *entity) stored(plan *plan, b batch, err error) outcome {
	if err == nil || isRejection(err) {
		e.obstacle.isOver()
	}
	switch {
	case err == nil:
		if len(plan.events) > 0 {
			e.user.commit(e.at)
			e.setState(e.seq + uint64(len(plan.events)))
			remembered(e, &b)
		}
		if len(b.req.Timers) > 0 {
			timersOf(e).change(b.req.Timers)
		}
		// The state comes before the replies: a sender that has one may ask again. The snapshot
		// comes after them, because they need not wait until it is encoded.
		o := e.follow(plan)
		if b.due {
			e.takeSnapshot()
		}
		return o
	case isRejection(err):
		err = &RejectedError{ID: e.id, Err: err}
		e.excused = e.announce(PersistRejected{Err: err})
	default:
		err = failedBy(fmt.Errorf("persist %d events of %q after %d: %w", len(plan.events), e.id, e.seq, err))
		e.failure, e.excused = err, false
		e.announce(PersistFailed{Err: err})
	}
	return outcome{err: err}
}

// batch makes one atomic append of what a plan stores. The event handler runs before the write, so
// that a panic in it stores nothing. An error is a rejection.
func (e *entity) batch(plan *plan) (b batch, err error) {
	events := plan.events
	b.req = journal.AppendRequest{ID: e.id, Epoch: e.epoch, Prev: e.seq, Records: make([]journal.Record, len(events))}
	now := time.Now().UTC()
	for i, event := range events {
		seq := e.seq + uint64(i) + 1
		b.due = b.due || e.SnapshotEvery > 0 && seq%uint64(e.SnapshotEvery) == 0
		handled := observe(e, e.onEvent, event)
		a := e.user.add(e.at, addition{event: event, seq: seq, first: i == 0, due: b.due})
		handled()
		record, err := e.record(&a)
		if err != nil {
			return b, err
		}
		record.Seq, record.Time = seq, now
		b.req.Records[i] = record
		b.due = a.due
	}
	if err := remember(e, plan, &b); err != nil {
		return b, err
	}
	changes, err := changesOf(e, plan.timers)
	b.req.Timers = append(plan.attempts, changes...)
	return b, err
}

// slowAppend is the duration from which an append counts as blocking; the next one is then expected
// to block, too. A journal in memory takes less.
const slowAppend = 50 * time.Microsecond

// A failedAttempt is the first attempt of a write, if that has failed already.
type failedAttempt struct {
	begun time.Time
	err   error // nil for none
}

// write stores req. A stop does not cancel it, because the outcome would be unknown.
func (e *entity) write(req journal.AppendRequest, first failedAttempt) error {
	if first.err == nil {
		first.begun = time.Now()
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(e.ctx), first.begun.Add(e.PersistTimeout))
	defer cancel()
	if e.slow || first.err != nil {
		extension.WillBlock(e.ctx)
	}
	return e.retrier().do(ctx, func() error {
		if err := first.err; err != nil { // the retrier counts the attempt that was made during the pause
			first.err = nil
			return err
		}
		return e.append(ctx, req)
	})
}

func (e *entity) append(ctx context.Context, req journal.AppendRequest) (err error) {
	defer func(begun time.Time) {
		e.slow = e.calls.append(begun, len(req.Records), err) > slowAppend
	}(time.Now())
	work := func() error { return settled(&req, e.journal.Append(ctx, []journal.AppendRequest{req})[0]) }
	if e.nonBlocking {
		return guard.Run(work)
	}
	return e.obstacle.call(ctx, "append", work)
}

// settled returns err so that a change of timers alone is not repeated if its outcome is unknown:
// it has no sequence number, so a late one could undo a later change. The actor fails, and its next
// claim fences the late one off.
func settled(req *journal.AppendRequest, err error) error {
	if len(req.Records) == 0 && errors.Is(err, ErrUnknown) {
		return &finalError{err}
	}
	return err
}

// A finalError is not repeated, whatever its cause.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

func (e *entity) retrier() retrier {
	return retrier{backoff: e.OnPersistFailure, limit: e.PersistTimeout, log: e.caller.log, repeats: e.obstacle.failed}
}

// storing ends the span of a write, unless it is nil.
type storing func(error)

func (s storing) end(err error) {
	if s != nil {
		s(err)
	}
}

// trace begins the span in which req is stored, if the command with that Context is in a trace. The
// records then carry it, so that projections link to it.
func trace(e *entity, ctx actorContext, req *journal.AppendRequest) storing {
	tracer := extension.TracerOf(ctx.System())
	if tracer == nil {
		return nil
	}
	within, end := extension.StartSpan(ctx, extension.Span{Operation: "persist", Path: e.self.Path})
	if end == nil {
		return nil
	}
	text := tracecontext.Text(tracer.Inject(within))
	for i := range req.Records {
		r := &req.Records[i]
		meta := map[string]string{tracecontext.Key: text}
		maps.Copy(meta, r.Meta)
		r.Meta = meta
	}
	return end
}

// pending is a command whose events are being stored while the actor pauses.
type pending struct {
	cmd   command
	plan  *plan
	batch batch
	trace storing
}

func (e *entity) afterPause() outcome {
	if e.pausing.hangs() {
		e.obstacle.hangs(e.pausing.started)
		if e.pausing.goesOn() {
			return outcome{}
		}
	}
	p := e.pending
	defer e.goOn()
	defer e.idleness.busy()
	begun, err := e.pausing.outcome()
	err = settled(&p.batch.req, err)
	// A pause is for one attempt. The others repeat the same request, which the journal recognises
	// if the first one was stored and only its answer was lost.
	if isTransient(err) {
		err = e.write(p.batch.req, failedAttempt{begun, err})
	}
	e.pending = pending{}
	p.trace.end(err)
	if o := e.finish(p.plan, p.cmd, e.stored(p.plan, p.batch, err)); !o.goesOn() {
		return o
	}
	return e.work()
}

// A pausingWriter appends to a journal while the actor pauses, so that no goroutine waits. Only the
// actor uses it, except for its timer and the answers of the journal. A nil pausingWriter never
// stores anything.
//
// If a write takes long, the pause ends for a moment, so that the actor can say so; see hangs.
//
// Its one timer bounds the writes. It is not stopped after each write: when it fires, it looks
// whether one takes too long.
type pausingWriter struct {
	journal journal.AsyncJournal
	calls   *journalMetrics
	pause   extension.Pause
	limit   time.Duration
	done    func(error) // has the outcome
	storing bool
	started time.Time // the last write
	records int       // in it

	mu       sync.Mutex // guards all below
	begun    time.Time  // the last write
	call     journal.Call
	answered bool  // the journal has answered
	err      error // the outcome, once it has
	late     bool  // the actor has been told that it takes long
	awake    bool  // and the pause has ended for that
	timer    *time.Timer
	armed    bool
}

func newPausingWriter(j journal.AsyncJournal, calls *journalMetrics, limit time.Duration, pause extension.Pause) *pausingWriter {
	w := &pausingWriter{journal: j, calls: calls, pause: pause, limit: limit}
	w.done = func(err error) {
		w.calls.append(w.started, w.records, err)
		if w.answer(err) {
			w.pause.End()
		}
	}
	return w
}

func (w *pausingWriter) answer(err error) (paused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered, w.err = true, err
	return !w.awake
}

func (w *pausingWriter) busy() bool { return w != nil && w.storing }

// store begins to store req, and reports whether the actor pauses now. Otherwise it has to wait.
func (w *pausingWriter) store(req journal.AppendRequest) bool {
	if w == nil || !w.pause.Begin() {
		return false
	}
	w.storing = true
	begun := time.Now()
	w.started, w.records = begun, len(req.Records)
	w.watch(begun, w.journal.AppendAsync(req, w.done))
	return true
}

// hangs reports whether the pause has ended although the journal has not answered.
func (w *pausingWriter) hangs() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.answered
}

// goesOn lets the actor pause again after hangs, unless the journal has answered.
func (w *pausingWriter) goesOn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.awake = false
	return !w.answered && w.pause.Begin() // it has begun in the same handler before
}

func (w *pausingWriter) outcome() (begun time.Time, err error) {
	w.storing = false
	w.mu.Lock()
	defer w.mu.Unlock()
	w.call, w.answered, w.late, w.awake = nil, false, false, false
	return w.begun, w.err
}

func (w *pausingWriter) watch(begun time.Time, call journal.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun, w.call = begun, call
	switch {
	case w.armed:
		return
	case w.timer == nil:
		w.timer = time.AfterFunc(min(tardy, w.limit), w.fired)
	default:
		w.timer.Reset(min(tardy, w.limit))
	}
	w.armed = true
}

func (w *pausingWriter) fired() {
	w.mu.Lock()
	call, took := w.call, time.Since(w.begun)
	if w.answered {
		call = nil
	}
	left := w.limit - took
	if took < tardy {
		left = min(left, tardy-took)
	}
	w.armed = call != nil && left > 0
	if w.armed {
		w.timer.Reset(left)
	}
	wakes := w.armed && took >= tardy && !w.late
	if wakes {
		w.late, w.awake = true, true
	}
	w.mu.Unlock()
	switch {
	case wakes:
		w.pause.End()
	case call != nil && left <= 0:
		call.Cancel(context.DeadlineExceeded)
	}
}

func (w *pausingWriter) end() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}
