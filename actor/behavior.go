package actor

// A Behavior says how an actor goes on. It is called once, inside the actor, to fill
// in next: handlers for what comes, or an end. What it leaves nil stays as it was; so
// a behavior that fills in nothing means "the same", and so does the nil Behavior.
//
// Users rarely write one themselves; package behaviors has the catalogue.
type Behavior[M any] func(ctx *Context[M], next *Next[M])

// A MessageHandler handles one message and returns the behavior for the next one.
type MessageHandler[M any] func(ctx *Context[M], msg M) Behavior[M]

// A SignalHandler handles one signal and returns the behavior for what comes next. What
// it returns for [PostStop] and [PreRestart] is ignored.
type SignalHandler[M any] func(ctx *Context[M], sig Signal) Behavior[M]

// OnSignal returns b with h as its signal handler. Use it inside supervision: a restart
// begins again with what is supervised, and knows nothing of what is around that.
func (b Behavior[M]) OnSignal(h SignalHandler[M]) Behavior[M] {
	return func(ctx *Context[M], next *Next[M]) {
		b(ctx, next)
		next.OnSignal = h
	}
}

// Next is what a [Behavior] fills in. It is valid during that call only.
type Next[M any] struct {
	OnMessage MessageHandler[M] // nil keeps the handler there is
	OnSignal  SignalHandler[M]  // nil keeps the handler there is

	cell      *cell[M]
	rest      *restOfNext[M] // nil: nothing; as each cell has a Next, it has to be small
	starting  bool           // the first behavior of an incarnation
	mute      bool           // the handler of signals there was goes
	layered   bool           // this transition has set supervision of its own
	stop      bool
	unhandled bool
}

// restOfNext is what few behaviors fill in.
type restOfNext[M any] struct {
	wrapping *wrapping[M] // what this transition puts around the handlers; nil: what there is
	err      error
}

func (n *Next[M]) toRest() *restOfNext[M] {
	if n.rest == nil {
		n.rest = new(restOfNext[M])
	}
	return n.rest
}

func (n *Next[M]) wrapping() *wrapping[M] {
	if n.rest == nil {
		return nil
	}
	return n.rest.wrapping
}

func (n *Next[M]) err() error {
	if n.rest == nil {
		return nil
	}
	return n.rest.err
}

// same reports whether n is as it was before a behavior was asked.
func (n *Next[M]) same() bool {
	return n.OnMessage == nil && n.OnSignal == nil && n.rest == nil &&
		!n.stop && !n.unhandled && !n.layered && !n.mute
}

// Receive sets h, without a handler for signals: the end of a watched actor and the failure
// of an adapter are unhandled then, the rest does not matter.
func (n *Next[M]) Receive(h MessageHandler[M]) { n.OnMessage, n.OnSignal, n.mute = h, nil, true }

// Ignore sets handlers that do nothing, neither at messages nor at signals.
func (n *Next[M]) Ignore() { n.OnMessage, n.OnSignal = n.cell.conf.ignore, n.cell.conf.ignoreSignals }

// Stop ends the actor: its children first, then [PostStop] to the current behavior.
func (n *Next[M]) Stop() { n.stop = true }

// Unhandled says that the message or signal was not meant for this behavior, and keeps
// the behavior. A message is published as [UnhandledMessage]; a [Terminated] fails the
// actor with [ErrDeathPact].
func (n *Next[M]) Unhandled() { n.unhandled = true }

// Fail fails the actor with err, as a panic would.
func (n *Next[M]) Fail(err error) {
	if err == nil {
		err = errNoError
	}
	n.toRest().err = err
}

// Supervise goes on as b does, under s: failures are decided by s, and a restart begins
// again with b. Nested strategies are asked from the inside out. Supervision stays when
// the behavior changes; when a handler returns a supervised behavior, its strategy
// takes the place of the one that a handler returned before, so that they never pile up.
// It panics on a strategy that makes no sense.
func (n *Next[M]) Supervise(b Behavior[M], s Strategy) {
	s.validate()
	if host := n.cell.hosted(); host != nil {
		host.supervise(b, s, n)
		return
	}
	n.cell.supervise(b, s, n)
	n.layered = true
	b(&n.cell.ctx, n)
}
