package workflow

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A live is what is in memory of a run: what its goroutines and its actor share. The goroutines run
// the function of the user; only the actor stores. Each incarnation of the actor has its own.
//
// A goroutine is busy unless it waits: for a sleep or an await, for the end of a replay, or for its
// branches. When none is busy, the run rests, and may leave memory. Only the actor makes a
// goroutine busy again, so it knows when it stores that a run rests.
type live struct {
	of     address // Type and ID
	notify func()  // tells the actor that there is work
	report func(unasked []string)
	span   func(ctx context.Context, carried []byte, step string) (within context.Context, end func(error))
	gone   chan struct{} // closed when the incarnation ends
	life   context.Context
	end    context.CancelFunc
	epoch  uint64          // of the claim of the incarnation
	kept   kept            // of the incarnation before
	asks   string          // what the children are told: it is another one after each Resume
	steps  context.Context // of steps: it also ends when the run turns
	stop   context.CancelCauseFunc

	mu          sync.Mutex // guards the fields below
	launched    bool
	leaving     bool // no step begins
	outcomes    map[string]outcome
	tries       map[string]try
	waits       map[string]wait // by key
	signals     []signal
	turned      error // nil until the run turns
	turnedAt    time.Time
	asked       map[string]bool // names that the function has asked for
	busy        int
	replaying   bool
	atBarrier   int
	barrier     chan struct{} // closed at the end of the replay
	parked      map[string]*parking
	executing   map[string]execution // functions of steps, until their outcome is queued
	queue       []request
	undo        []compensation
	unnoted     []string // names of compensations that are not stored
	redone      []redo
	trace       []byte   // carries the span of the run
	noted       []string // names of those that were stored before this incarnation
	compensates bool
	ignored     []string      // names of outcomes for which the function did not ask
	notified    bool          // the actor knows that there is work
	drained     chan struct{} // closed once nothing executes; nil unless the actor waits for it
}

// A parking is a goroutine that waits.
type parking struct {
	wait
	wake chan struct{} // closed once it shall look again
	due  bool          // the stored timer says that its time has come
}

type execution struct {
	attempt int
	begun   time.Time
}

// A request is an event that a goroutine wants to be stored.
type request struct {
	event event
	done  chan bool // gets true once it is stored, false if it was refused; nil if nobody waits
}

// newLive returns the live of an incarnation with state s.
func newLive(of address, s state, report func([]string), notify func()) *live {
	l := &live{
		of: of, report: report, notify: notify, gone: make(chan struct{}), replaying: true, barrier: make(chan struct{}),
		outcomes: map[string]outcome{}, tries: map[string]try{}, waits: map[string]wait{}, asked: map[string]bool{},
		parked: map[string]*parking{}, executing: map[string]execution{}, signals: slices.Clone(s.Signals), noted: s.Undo, trace: s.Trace, redone: s.Redone, asks: strconv.Itoa(s.Resumes),
	}
	l.life, l.end = context.WithCancel(context.Background())
	l.steps, l.stop = context.WithCancelCause(l.life)
	for _, o := range s.Outcomes {
		l.outcomes[o.Name] = o
	}
	for _, t := range s.Tries {
		l.tries[t.Name] = t
	}
	for _, w := range s.Waits {
		l.waits[w.key()] = w
	}
	if s.Turned.State != "" {
		l.turn(failureOf(s.Turned.Err), s.Turned.At)
	}
	return l
}

// close ends the incarnation: its goroutines are unwound as soon as they ask for anything.
func (l *live) close() {
	l.end()
	l.stop(context.Canceled)
	close(l.gone)
}

// over reports whether the incarnation has ended.
func (l *live) over() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// await blocks until c is closed, and unwinds the goroutine if the incarnation ends first. Its
// deferred functions run: that is why this is no panic, which they could recover.
func (l *live) await(c <-chan struct{}) {
	select {
	case <-c:
	case <-l.gone:
		runtime.Goexit()
	}
}

// store waits until the actor has stored e, and reports whether it has.
func (l *live) store(e event) bool {
	done := make(chan bool, 1)
	l.mu.Lock()
	l.ask(request{e, done})
	l.mu.Unlock()
	select {
	case stored := <-done:
		return stored
	case <-l.gone:
		runtime.Goexit()
		return false
	}
}

// ask queues a request. The caller holds mu. A step whose outcome is in the queue executes no more:
// both change at once, so that an actor that leaves does not miss the outcome.
func (l *live) ask(r request) {
	l.queue = append(l.queue, r)
	l.executed(r.event.Name)
	l.tell()
}

// executed notes that the function of a step has returned. The caller holds mu.
func (l *live) executed(name string) {
	delete(l.executing, name)
	if l.drained != nil && len(l.executing) == 0 {
		close(l.drained)
		l.drained = nil
	}
	if l.leaving { // a run that is held has waited for this step
		l.tell()
	}
}

// drain lets no step begin, and waits until those that are executed have returned, for at most d.
func (l *live) drain(d time.Duration) {
	l.mu.Lock()
	l.leaving = true
	if len(l.executing) == 0 {
		l.mu.Unlock()
		return
	}
	drained := make(chan struct{})
	l.drained = drained
	l.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
	}
}

// tell tells the actor that there is work. The caller holds mu.
func (l *live) tell() {
	if !l.notified {
		l.notified = true
		l.notify()
	}
}

// take returns all requests.
func (l *live) take() []request {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.queue
	l.queue, l.notified = nil, false
	return all
}

// rest makes the calling goroutine not busy. The caller holds mu.
func (l *live) rest() {
	l.busy--
	if l.busy > 0 {
		return
	}
	if l.replaying {
		// Everything that is stored has been asked for, or will not be: each goroutine has come to
		// something new. It goes on only after this report.
		l.replaying = false
		if l.ignored = l.unasked(); len(l.ignored) > 0 {
			l.report(l.ignored)
		}
		l.busy, l.atBarrier = l.atBarrier, 0
		close(l.barrier)
	}
	l.tell()
}

// unasked returns the names of outcomes for which the function has not asked, sorted. One that has
// turned skips what it had not done. The caller holds mu.
func (l *live) unasked() (names []string) {
	if l.turned != nil {
		return nil
	}
	for name := range l.outcomes {
		if !l.asked[name] && !strings.HasPrefix(name, compensating) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// gate blocks before anything new: until the replay is over, and for ever if the actor leaves. It
// returns why nothing new may begin.
func (l *live) gate() error {
	l.mu.Lock()
	if l.replaying {
		l.atBarrier++
		barrier := l.barrier
		l.rest()
		l.mu.Unlock()
		l.await(barrier)
		l.mu.Lock()
	}
	defer l.mu.Unlock()
	if l.leaving { // still busy, so the guard stays: the next incarnation goes on at once
		l.mu.Unlock()
		<-l.gone
		l.mu.Lock()
		runtime.Goexit()
	}
	if l.compensates {
		return nil
	}
	return l.turned
}

// park blocks until the wait may be over: its time has come, a signal of its name has come, or the
// run has turned. first is the event that the wait has begun, nil if that is stored.
func (l *live) park(w wait, first *event) (due bool) {
	l.mu.Lock()
	if l.turned != nil && !l.compensates || w.Signal != "" && slices.ContainsFunc(l.signals, func(s signal) bool { return s.Name == w.Signal }) {
		l.mu.Unlock() // it has come since the caller looked
		return false
	}
	p := &parking{wait: w, wake: make(chan struct{})}
	l.parked[w.Name] = p
	if first != nil {
		l.waits[w.key()] = w
		l.ask(request{event: *first})
	}
	l.rest()
	l.mu.Unlock()
	l.await(p.wake)
	return p.due
}

// unpark lets a goroutine go on. The caller holds mu, and is the actor.
func (l *live) unpark(p *parking) {
	delete(l.parked, p.Name)
	l.busy++
	close(p.wake)
}

// turn says that no further step begins, and ends the contexts of those that run.
func (l *live) turn(why error, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turned != nil {
		return
	}
	l.turned, l.turnedAt = why, at
	l.stop(why)
	for _, p := range l.parked {
		l.unpark(p)
	}
}

// wakeDue lets the goroutines go on whose time has come by now.
func (l *live) wakeDue(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.parked {
		if !p.Until.IsZero() && !p.Until.After(now) {
			p.due = true
			l.unpark(p)
		}
	}
}

// deliver adds a signal that was stored.
func (l *live) deliver(s signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signals = append(replaced(l.signals, s.Name), s)
	for _, p := range l.parked {
		if p.Signal == s.Name {
			l.unpark(p)
		}
	}
}

// awaits reports whether a goroutine waits for a signal of that name.
func (l *live) awaits(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.parked {
		if p.Signal == name {
			return true
		}
	}
	return false
}

// collect takes the first signal of that name.
func (l *live) collect(name string) (s signal, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.signals, func(s signal) bool { return s.Name == name })
	if i < 0 {
		return signal{}, false
	}
	s = l.signals[i]
	if i == 0 { // many may wait
		l.signals = l.signals[1:]
	} else {
		l.signals = slices.Delete(l.signals, i, i+1)
	}
	return s, true
}

// next returns what the run waits for: rests is false while a goroutine is busy, and until is when
// the first wait ends, zero for never.
func (l *live) next() (rests bool, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.parked {
		if !p.Until.IsZero() && (until.IsZero() || p.Until.Before(until)) {
			until = p.Until
		}
	}
	return l.busy == 0, until
}

// idle reports whether nothing of the run would be lost if the actor ended now.
func (l *live) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.executing) == 0 && len(l.queue) == 0
}

// leave lets no step begin any more.
func (l *live) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaving = true
}

func (l *live) isLeaving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaving
}

// note keeps what was stored of a step or a wait.
func (l *live) note(e event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.What {
	case finished:
		l.outcomes[e.Name] = outcome{Name: e.Name, Value: e.Value, Attempts: e.Attempt, At: e.At}
		delete(l.tries, e.Name)
		delete(l.waits, e.Name)
	case failed:
		l.tries[e.Name] = try{e.Name, e.Attempt, e.Err, e.Until}
	}
}

// compensating reports whether the function has returned, and compensations run.
func (l *live) compensating() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.compensates
}

// retry makes the next attempts of all steps due.
func (l *live) retry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.parked {
		if _, tried := l.tries[p.Name]; tried {
			p.due = true
			l.unpark(p)
		}
	}
}

// left returns the names of outcomes for which the function did not ask.
func (l *live) left() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return without(l.ignored, func(name string) bool { return l.asked[name] }) // it may have asked for them later
}

// replays reports whether the function has not come to anything new yet.
func (l *live) replays() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.launched && l.replaying
}
