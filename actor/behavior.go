package actor

import "time"

// A Behavior determines how an actor continues. It is called once, inside the actor, and fills in
// next: handlers, or the end of the actor. Fields that it leaves nil keep their value; a behavior
// that fills in nothing therefore means "same", and so does the nil Behavior.
//
// Package behaviors has constructors for all usual ones.
type Behavior[M any] func(ctx *Context[M], next *Next[M])

// A MessageHandler handles one message and returns the behavior for the next one; nil means the
// same.
type MessageHandler[M any] func(ctx *Context[M], msg M) Behavior[M]

// A SignalHandler handles one signal and returns the behavior for what comes next; nil means the
// same. The result for [PostStop] and [PreRestart] is ignored.
type SignalHandler[M any] func(ctx *Context[M], sig Signal) Behavior[M]

// OnSignal returns b with h as its signal handler. Apply it inside Supervise: a handler attached
// outside is lost after a restart.
func (b Behavior[M]) OnSignal(h SignalHandler[M]) Behavior[M] {
	return func(ctx *Context[M], next *Next[M]) {
		b(ctx, next)
		next.OnSignal = h
	}
}

// Next is what a [Behavior] fills in. It is valid only during that call.
type Next[M any] struct {
	OnMessage MessageHandler[M] // nil keeps the handler there is
	OnSignal  SignalHandler[M]  // nil keeps the handler there is

	next next
}

// Receive sets h as message handler and removes the signal handler. Without one, the end of a
// watched actor and the failure of an adapter are unhandled, and other signals are ignored.
func (n *Next[M]) Receive(h MessageHandler[M]) { n.OnMessage, n.OnSignal, n.next.mute = h, nil, true }

// Ignore sets handlers that ignore all messages and signals.
func (n *Next[M]) Ignore() {
	of := n.next.cell.box.(*box[M]).queue.of.ignore // which has the type of the Next
	n.OnMessage, _ = of.message.(MessageHandler[M])
	n.OnSignal, _ = of.signal.(SignalHandler[M])
}

// Stop ends the actor: first its children, then [PostStop] goes to the current behavior.
func (n *Next[M]) Stop() { n.next.stop = true }

// Unhandled keeps the behavior and declares the message or signal unhandled. A message is then
// published as [UnhandledMessage]; a [Terminated] fails the actor with [ErrDeathPact].
func (n *Next[M]) Unhandled() { n.next.unhandled = true }

// Fail fails the actor with err, like a panic.
func (n *Next[M]) Fail(err error) { n.next.fail(err) }

// Supervise continues with b, supervised by s: s decides about failures, and a restart begins with
// b again. Nested strategies are asked from the inside out. Supervision remains when the behavior
// changes. A supervised behavior that a handler returns replaces the strategies that handlers
// returned earlier; they do not accumulate. Supervise panics on an invalid strategy.
func (n *Next[M]) Supervise(b Behavior[M], s Strategy) {
	if in := n.next.cell.inner(); in != nil {
		in.around.supervise(b, s, n)
		return
	}
	n.next.supervise(b, &s)
	b(&n.next.cell.box.(*box[M]).ctx, n) // which has the type of the Next
}

// A next is what does not depend on the type of messages in a Next. As each box has a Next, it has
// to be small.
type next struct {
	cell      *cell
	starting  bool
	mute      bool // the handler of signals there was goes
	layered   bool // this transition has set supervision of its own
	stop      bool
	unhandled bool
}

// A transition is what few behaviors fill in. It is among the extras of the cell.
type transition struct {
	wrapping *wrapping // what this transition puts around the handlers; nil: what there is
	err      error
	mark     any // see markOf
}

func (n *next) transition() *transition {
	own := n.cell.own()
	if own.transition == nil {
		own.transition = new(transition)
	}
	return own.transition
}

func (e *extras) takeTransition() (t transition) {
	if e.transition != nil {
		t = *e.transition
		e.transition = nil
	}
	return t
}

func (n *next) wrapping() *wrapping {
	if n.cell.transition == nil {
		return nil
	}
	return n.cell.transition.wrapping
}

func (n *next) failure() error {
	if n.cell.transition == nil {
		return nil
	}
	return n.cell.transition.err
}

func (n *next) same() bool {
	return !n.stop && !n.unhandled && !n.layered && !n.mute && n.cell.transition == nil
}

//go:noinline // into what is compiled for each type of messages
func (n *next) fail(err error) {
	if err == nil {
		err = errNoError
	}
	n.transition().err = err
}

//go:noinline // likewise
func (n *next) supervise(b any, s *Strategy) {
	s.validate()
	l := &layer{initial: b, strategy: *s, around: n.around()}
	if n.cell.core.phase == running {
		l.ledger.started = time.Now()
	}
	n.cell.own().supervision.add(l, n)
	n.layered = true
}
