package actor

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/payload"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/options"
	"github.com/understudy-go/understudy/internal/stderrlog"
)

// A System runs a tree of actors. Its methods may be called from any goroutine, also after
// Shutdown.
type System struct {
	name      string
	address   string
	log       *zap.Logger
	transport transport
	patient   patientTransport // the transport, if it is one
	encoding  *encoding        // nil: messages stay as they are
	halt      halt
	sent      atomic.Uint64 // to other nodes

	user, system *guardian
	uids         atomic.Uint64
	exports      exports
	remotes      remotes
	tree         atomic.Pointer[tree] // of an extension; nil for none
	straight     straightRouters
	asksOver     atomic.Bool // asks of actors on other nodes end at once
	events       eventStream
	why          atomic.Pointer[[]func(path string) error] // see internals.OnAskTimeout
	deadLetters  deadLetterLog
	longAsks     lineLimit
	forwarded    forwarded
	extensions   sync.Map // see package extension
	background   group
	scheduler    scheduler
	kinds        kinds
	tracer       *guardedTracer // nil for none
	timers       timerQueues
	wakers       wakers
	asks         askCounts
	terminated   chan struct{}
	shutdown     shutdown
}

// An Option configures a system.
type Option func(*System)

// WithLogger sets the logger of the system. By default warnings and errors go to standard error,
// also if log is nil. Use zap.NewNop() to log nothing; [SlogLogger] makes a logger from a handler
// of log/slog.
func WithLogger(log *zap.Logger) Option { return func(s *System) { s.log = log } }

// NewSystem starts a system. An idle system runs no goroutine; end it with Shutdown all the same.
// NewSystem panics if the name is empty or has a character that actor names may not have, or an @,
// and if the advertised address of its node cannot be part of a path.
func NewSystem(name string, opts ...Option) *System {
	if err := naming.CheckSystem(name); err != nil {
		panic(fmt.Sprintf("actor: system name %q %v; it must be %s", name, err, naming.OfSystem))
	}
	s := &System{name: name, terminated: make(chan struct{})}
	s.scheduler.timing.every = defaultTiming
	s.shutdown.init(s)
	options.MustApply("actor", s, opts)
	if s.address != "" {
		if err := naming.CheckPlace(s.address); err != nil {
			panic(fmt.Sprintf("actor: system address %q %v", s.address, err))
		}
	}
	if s.log == nil {
		s.log = stderrlog.New()
	}
	s.uids.Store(s.firstUID())
	s.kinds.number = systemNumbers.Add(1)
	s.scheduler.limit, s.scheduler.virtual, s.scheduler.lending.pause = processors(), timeIsVirtual(), minLentPause
	s.wakers.virtual = s.scheduler.virtual
	s.user, s.system = newGuardian(s, "/user"), newGuardian(s, "/system")
	systems.Store(s, struct{}{})
	return s
}

var systems sync.Map

// Name returns the name of the system.
func (s *System) Name() string { return s.name }

// Address returns the "host:port" under which other nodes reach the system, or "" if it has none.
func (s *System) Address() string { return s.address }

// Log returns the system's logger.
func (s *System) Log() *zap.Logger { return s.log }

// Publish sends event to all subscribers to its type, see [Subscribe]. The system itself publishes
// [DeadLetter] and [UnhandledMessage]. Publish never blocks.
func (s *System) Publish(event any) { s.events.publish(event) }

// Terminated returns a channel that is closed when Shutdown has ended all actors. The tasks of
// [AfterActors] run after that.
func (s *System) Terminated() <-chan struct{} { return s.terminated }

func (s *System) spawnUnder() *core { return &s.user.core }

func (c *core) spawnUnder() *core { return c }

// The start must differ from run to run, and need not be secret.
func (s *System) firstUID() uint64 {
	if t, ok := s.transport.(interface{ FirstUID() uint64 }); ok {
		if first := t.FirstUID(); first != 0 {
			return first
		}
	}
	return rand.Uint64() >> 16 << 12 //nolint:gosec // see above
}

// No other actor of this address has or had it.
func (s *System) nextUID() uint64 { return s.uids.Add(1) }

type guardian struct {
	core
	once sync.Once
	gone chan struct{} // closed when it has stopped and has no children
}

func newGuardian(s *System, path string) *guardian {
	g := &guardian{gone: make(chan struct{})}
	g.sys, g.label, g.uid, g.impl = s, path, s.nextUID(), g
	return g
}

func (g *guardian) deliver(msg any, _ entrance) {
	g.sys.deadLetter(&g.core, msg, fmt.Errorf("%w: it got %s, and takes no messages", ErrWrongType, payload.TypeName(msg)))
}

func (g *guardian) signal(msg systemMsg) {
	switch msg.kind {
	case sysStop:
		g.mu.Lock()
		g.dead = true
		living, _ := g.awaitChildren()
		g.mu.Unlock()
		stopAll(living)
	case sysEscalated:
		logWithStack(msg.child.lineLog(), zapcore.ErrorLevel, "failure escalated beyond the top-level actor", msg.err)
	}
	if g.terminated() && g.childCount() == 0 {
		g.once.Do(func() { close(g.gone) })
	}
}
