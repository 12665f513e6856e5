package eventsourced

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// watch compares the present state before and after a handler has run.
func (k *Kit[M, E, S]) watch(handler, state, input any) (after func()) {
	what := "event"
	k.mu.Lock()
	if _, is := handler.(func(S, E) S); is {
		k.apply = handler
	} else {
		what = "command"
		k.decide = handler
	}
	k.mu.Unlock()
	before := pictureOf(state)
	return func() {
		changed := before.changed(pictureOf(state))
		if changed == "" {
			return
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.faults = append(k.faults, fmt.Sprintf("eventsourced: %s: the %s handler has changed the state that it was given, at %T: %s. "+
			"It must leave that state as it is: clone what it changes, for example with maps.Clone or slices.Clone, and return a new state",
			lineOf(handler), what, input, changed))
	}
}

// expect lets encoded refs lead to ref.
func (k *Kit[M, E, S]) expect(ref actor.AnyRef) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asks = ref
}

func (k *Kit[M, E, S]) expected() actor.AnyRef {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asks
}

// handler returns where the command handler is.
func (k *Kit[M, E, S]) handler() string { return k.lineOf(&k.decide) }

func (k *Kit[M, E, S]) lineOf(handler *any) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if *handler == nil {
		return k.id
	}
	return lineOf(*handler)
}

// report fails the test for what watch has found.
func (k *Kit[M, E, S]) report() {
	k.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, fault := range k.faults {
		k.t.Error(fault)
	}
	k.faults = nil
}

// lineOf returns where a function begins.
func lineOf(f any) string {
	if at := runtime.FuncForPC(reflect.ValueOf(f).Pointer()); at != nil {
		file, line := at.FileLine(at.Entry())
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("a %T", f)
}

// A replyWatch passes the reply to an ask on, and notes where the first one comes from.
type replyWatch[R any] struct {
	to      actor.ActorRef[R]
	journal *faultyJournal
	before  int // appends before the command
	told    chan struct{}

	mu    sync.Mutex // guards all below
	from  string     // the line
	after int        // appends before the reply
	again string     // the line of a second reply; "" for none
}

// Told implements extension.Router. The goroutine is the one that replies.
func (w *replyWatch[R]) Told(_ string, msg any, _ extension.Metadata) actor.AnyRef {
	w.mu.Lock()
	if w.from == "" {
		w.from, w.after = caller(), w.journal.appends()
		close(w.told)
	} else if w.again == "" {
		w.again = caller()
	}
	w.mu.Unlock()
	reply, _ := msg.(R) // a nil of an interface type stays nil
	w.to.Tell(reply)
	return nil
}

// replyLimit is how long an ask waits for the reply, after its command has been handled.
const replyLimit = 3 * time.Second

// comes waits for the reply.
func (w *replyWatch[R]) comes() bool {
	late := time.NewTimer(replyLimit)
	defer late.Stop()
	select {
	case <-w.told:
		return true
	case <-late.C:
		return false
	}
}

// Arrived implements extension.Router. No other node knows the ref.
func (w *replyWatch[R]) Arrived(string, uint64, any, extension.Arrival) actor.AnyRef { return nil }

// early describes a reply that has left before the command has stored its events.
func (w *replyWatch[R]) early() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.after > w.before || w.journal.appends() == w.after {
		return ""
	}
	return fmt.Sprintf("eventsourced: %s: the reply leaves before the events of its command are stored; if they never are, it was wrong. "+
		"Chain it to the effect: persistence.ThenReply(persistence.Persist(…), ref, reply)", w.from)
}

// twice describes a second reply.
func (w *replyWatch[R]) twice() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.again == "" {
		return ""
	}
	return fmt.Sprintf("eventsourced: %s: the command has been replied to already, at %s; the second reply reaches nobody. Leave out one of them", w.again, w.from)
}

// compare fails the test if the state is another one than before a restart.
func (k *Kit[M, E, S]) compare(before picture) {
	k.t.Helper()
	changed := before.changed(storedPictureOf(k.seen()))
	if changed == "" {
		return
	}
	k.t.Errorf("eventsourced: %s: the state is another one after a restart: %s. The event handler must make it of the initial state and the events alone; "+
		"let the command handler put times, random numbers and the like into the event", k.lineOf(&k.apply), changed)
}

// caller returns the line of the program that calls our packages.
func caller() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if !more || !isOurs(f.Function) {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
	}
}

// isOurs reports whether a function belongs to what Tell calls.
func isOurs(function string) bool {
	for _, pkg := range []string{"actor.", "internal/extension.", "testkit/eventsourced."} {
		if strings.HasPrefix(function, "github.com/understudy-go/understudy/"+pkg) {
			return true
		}
	}
	return false
}
