package persistence

import (
	"context"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/journal"
)

// pending is a command whose events are being stored while the actor pauses.
type pending struct {
	cmd   command
	plan  *plan
	batch batch
	trace storing
}

func (e *entity) afterPause() outcome {
	defer e.goOn()
	defer e.idleness.busy()
	p := e.pending
	e.pending = pending{}
	begun, err := e.pausing.outcome()
	err = settled(&p.batch.req, err)
	// A pause is for one attempt. The others repeat the same request, which the journal recognises
	// if the first one was stored and only its answer was lost.
	if isTransient(err) {
		err = e.write(p.batch.req, failedAttempt{begun, err})
	}
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
	err     error     // the outcome

	mu    sync.Mutex // guards all below
	begun time.Time  // the last write
	call  journal.Call
	timer *time.Timer
	armed bool
}

func newPausingWriter(j journal.AsyncJournal, calls *journalMetrics, limit time.Duration, pause extension.Pause) *pausingWriter {
	w := &pausingWriter{journal: j, calls: calls, pause: pause, limit: limit}
	w.done = func(err error) {
		w.calls.append(w.started, w.records, err)
		w.err = err
		w.pause.End()
	}
	return w
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

func (w *pausingWriter) outcome() (begun time.Time, err error) {
	w.storing = false
	w.mu.Lock()
	defer w.mu.Unlock()
	w.call = nil
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
		w.timer = time.AfterFunc(w.limit, w.fired)
	default:
		w.timer.Reset(w.limit)
	}
	w.armed = true
}

func (w *pausingWriter) fired() {
	w.mu.Lock()
	call, left := w.call, w.limit-time.Since(w.begun)
	w.armed = call != nil && left > 0
	if w.armed {
		w.timer.Reset(left)
	}
	w.mu.Unlock()
	if call != nil && left <= 0 {
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
