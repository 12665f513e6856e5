package extension

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
)

// system is what package actor implements for this one.
type system interface {
	AddTree(name string, find func(path string) (actor.AnyRef, error), by interface {
		Bypassed(name string) (around actor.AnyRef)
		Arrived(name string, from uint64, encoded actorhook.Arrival)
	})
	AfterEnd(ref actor.AnyRef, f func()) (cancel func())
	CheckFields(v any) error
	CheckSize(of string, bytes int) error
	DeadLetter(recipient string, msg any, reason error)
	DispatchAll(path string, uid uint64, msgs []any, sizes []int)
	EndAsks(address string, which func(uid, ask uint64) bool)
	Framework() actor.Spawner
	Halt()
	Halted() (at time.Time, halted bool)
	MaxMessage() int
	NextNumber() uint64
	NodeBack(address string)
	NodeGone(address string, of func(uid uint64) bool)
	NoteBroadcast(msg any)
	Explain(msg any, why error)
	FollowNobody(msg any)
	OnAskTimeout(why func(path string) error)
	OnEnd(path string, uid uint64, ended func()) (stop func())
	OnHalt(f func()) (cancel func())
	Owns(ref actor.AnyRef) bool
	Sent() uint64
	Refuse(msg any, why error)
	Routed(prefix string, accept func(msg any) error, refTo func(made any) any, by interface {
		Told(full string, msg any, m metadata.Metadata) (here actor.AnyRef)
		Arrived(path string, from uint64, msg any, encoded actorhook.Arrival) (here actor.AnyRef)
	}) func(name string) (ref any)
	SendTo(to actorhook.Target, msg any, m metadata.Metadata)
	SetEncoding(failed func(recipient string, msg any, err error))
	SetTransport(address string, t interface {
		Send(s *actor.System, target actorhook.Target, msg any)
	})
	SetTracer(t actorhook.Tracer)
	Starting(path string) bool
	TraceOf(ctx context.Context) metadata.Metadata
	Tracer() actorhook.Tracer
	Values() *sync.Map
}

func of(s *actor.System) system { return actorhook.Internals(s).(system) } // actor implements it

// Framework returns the parent of actors that belong to the framework or to an extension. They
// live under "/system" and are stopped after all actors of the user.
func Framework(s *actor.System) actor.Spawner { return of(s).Framework() }

// Owns reports whether ref belongs to an actor of this system, running or ended. Extensions that
// can serve only those check it.
func Owns(s *actor.System, ref actor.AnyRef) bool { return of(s).Owns(ref) }

// Starting reports whether the actor at path, such as "/user/name", has been spawned and its
// behavior has not run yet. An extension with which actors register themselves thereby knows that
// it has not heard of all of them.
func Starting(s *actor.System, path string) bool { return of(s).Starting(path) }

// AfterEnd calls f once the actor behind ref has ended, or immediately if it has ended already,
// unless cancel is called first. Extensions use it that keep something for actors of this system,
// see [Owns]; actors use [actor.Context.Watch]. f is called by whichever goroutine notices the
// end, possibly the caller of AfterEnd, and must not block. It may still be running when cancel
// returns.
func AfterEnd(s *actor.System, ref actor.AnyRef, f func()) (cancel func()) {
	if f == nil {
		panic("extension: AfterEnd: the function must not be nil")
	}
	return of(s).AfterEnd(ref, f)
}

// OnAskTimeout lets why explain asks that end without a reply because their context or timeout
// ended. why gets the path of the asked actor within the system, such as "/user/name". It returns
// the reason, which the error of the ask then wraps, or nil if it knows no reason. why is called in
// the goroutine of the ask and must not block. Of several functions, those of later calls are asked
// first.
func OnAskTimeout(s *actor.System, why func(path string) error) { of(s).OnAskTimeout(why) }

// Halt ends the system as a killed process ends: its actors handle no more messages and no more
// signals, no timer reaches them, no task of the shutdown runs, and nothing is flushed. Contexts
// of actors are not done. Asks of its actors get no reply. Halt returns immediately and may be
// called more than once. It does nothing while the system is being shut down. Tests of crashes use
// it.
//
// A handler that is running finishes its message, and goroutines of the user continue.
// [actor.System.Shutdown] afterwards releases what is left: functions given to Context.Defer run
// then, PostStop and tasks do not.
func Halt(s *actor.System) { of(s).Halt() }

// Halted returns when [Halt] was called, and whether it was.
func Halted(s *actor.System) (at time.Time, halted bool) { return of(s).Halted() }

// OnHalt registers f to be called by [Halt], in its goroutine, to end what runs beside the actors.
// f must not block. cancel removes it.
func OnHalt(s *actor.System, f func()) (cancel func()) { return of(s).OnHalt(f) }

// WillBlock announces that the handler is about to wait for something outside, perhaps for long.
// Until the handler returns, other ready actors run in other goroutines. ctx is the actor's context
// or derived from it; other contexts have no effect. Without the call the scheduler notices within
// a millisecond.
func WillBlock(ctx context.Context) { actorhook.WillBlock(ctx) }

// A Pause lets a handler wait for something outside without a goroutine: the handler begins the
// pause and returns, and the actor handles nothing more, neither messages nor its end, until the
// pause ends. It then continues inside the actor, as if the handler had waited.
type Pause interface {
	// Begin begins the pause; the handler must return nil right afterwards. The function of
	// [actor.Context.Notify] is such a handler. Begin reports false, and has no effect, where the
	// handler has to wait itself: inside [Deliver] and other tasks of the mailbox, in signal
	// handlers, and in handlers that others wrap. Only handlers of the actor may call it.
	Begin() bool

	// End ends the pause, which may not have been left by the handler yet. It never blocks, may be
	// called from any goroutine, and must be called once for each pause.
	End()
}

// NewPause returns a pause of the actor, which it may use again and again. After each one, then
// runs inside the actor and returns its next behavior; nil means the same.
func NewPause[M any](ctx *actor.Context[M], then func() actor.Behavior[M]) Pause {
	return actorhook.Internals(ctx).(interface { // actor implements it
		Pause(then func() any) interface {
			Begin() bool
			End()
		}
	}).Pause(func() any { return anyBehavior(then()) })
}

// CheckOptions returns an error if an actor with messages of type M cannot be spawned with opts:
// one is nil, or a prioritized mailbox is for messages of another type.
func CheckOptions[M any](opts ...actor.SpawnOption) error {
	for i, o := range opts {
		if o == nil {
			return fmt.Errorf("spawn option %d is nil", i+1)
		}
		if _, fits := actorhook.Priority(o).(func(M) int); !fits && actorhook.Priority(o) != nil {
			return fmt.Errorf("the mailbox has a priority of type %T, which does not take the messages", actorhook.Priority(o))
		}
	}
	return nil
}

// WithAdmissionCheck lets the actor handle messages only while check returns nil. It is called
// inside the actor before each message, so it must be fast. On its first error or panic the actor
// fails, regardless of supervision, and the messages that wait become dead letters with that error.
// Signals are not checked: PostStop is handled.
func WithAdmissionCheck(check func() error) actor.SpawnOption {
	return actorhook.AdmissionCheck(check).(actor.SpawnOption) // actor returns one
}

// PassedOptions returns the options of Spawn that the actor has not used itself, for a child that
// does the work: a mailbox and a kind. The behavior was spawned with a mark, see [Marked], that has
// a method PassesOptionsOn().
func PassedOptions[M any](ctx *actor.Context[M]) []actor.SpawnOption {
	return actorhook.Internals(ctx).(interface{ PassedOptions() []actor.SpawnOption }).PassedOptions() // actor implements it
}

// WithContext gives the actor and its descendants the values of ctx, and stops the actor when ctx
// is done. By default an actor has the values of its parent.
func WithContext(ctx context.Context) actor.SpawnOption {
	return actorhook.SpawnContext(ctx).(actor.SpawnOption) // actor returns one
}
