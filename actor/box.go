package actor

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
)

// A box is an actor at run time: a cell, and what depends on the type of messages. Each function of
// a box is compiled for each type of messages of the user, so there are few. All else is in the
// cell.
type box[M any] struct {
	ctx       Context[M]
	cell      cell
	queue     queue[M]          // right behind the core; see layout.go
	batch     *chunk[M]         // the first of what the turn handles next; guarded by the mutex of the core while suspended
	onMessage MessageHandler[M] // owned by the turn, as all below is
	onSignal  SignalHandler[M]
	scratch   Next[M] // a behavior fills it in
	initial   Behavior[M]
}

// typed is a box as its cell uses it. Messages are in their own type where they come fast, and
// values of any everywhere else: such a message, a handler or a behavior has the type that the box
// wants, unless a comment says otherwise.
type typed interface {
	takes(msg any) error // why a value of any is no message
	offer(msg any, by entrance) (lost item, at *inbox, reason error)
	deliverEncoded(all []actorhook.Arrival, by actorhook.Dispatcher, how entry) (taken int)

	// Of the mailbox; the mutex of the core is held, and draw releases it if it returns true.
	push(it item) (over item, overflow bool)
	draw() (drew bool)
	drainQueue(into []item) []item
	drainBatch(into []item) []item
	putBack(items []item) // at the front of the batch
	requests(batch bool, wanted func(*metadata.Request) bool, into []item) (first *metadata.Request, found []item)

	// Of the turn.
	handleBatch(n int) (handled int)
	handle(msg any)
	receive(msg any) (next any) // nil if the handler has returned nil
	signal(sig Signal) (next any)
	begin(first any) // nil is the behavior it was spawned with
	become(next any, keep func(n *next) bool) (handled bool)
	forget() // what a behavior that has panicked has filled in
	handlers() handlers
	setHandlers(h handlers)
	priority(msg any) int

	mark() any
	self() AnyRef
}

// common is shared by all cells of one message type. Each type that has refs knows it, so it must
// not name what only types of messages need: the compiler would make all functions of that.
type common[M any] struct {
	put    func(c *core, msg M)                            // tells an actor that is not plain
	putBy  func(c *core, msg M, by entrance) (unfit error) // see tellBy
	unused chunkPool
	marked uintptr  // the code of behaviors with a mark, see marked
	ignore handlers // that ignore everything
	conf   config
	kinded kinded
}

var commons sync.Map

func commonOf[M any]() *common[M] {
	key := reflect.TypeFor[M]()
	if known, ok := commons.Load(key); ok {
		return known.(*common[M]) // stored under its type
	}
	fresh := &common[M]{put: tellAside[M], putBy: tellBoxBy[M], marked: codeOf(marked[M](nil, nil))}
	fresh.ignore = handlersOf(func(*Context[M], M) Behavior[M] { return nil }, func(*Context[M], Signal) Behavior[M] { return nil })
	fresh.kinded.ofMessages, fresh.kinded.messages = kindOf(key), key
	fresh.conf.kinded = &fresh.kinded
	known, _ := commons.LoadOrStore(key, fresh)
	return known.(*common[M]) // stored under its type
}

func newBox[M any](parent *core, b Behavior[M], name string, conf *config, of *common[M]) *box[M] {
	x := &box[M]{initial: b}
	x.queue.of = of
	x.ctx.in.cell, x.scratch.next.cell = &x.cell, &x.cell
	x.cell.init(x, parent, name, conf)
	x.cell.core.queue = &x.queue
	return x
}

// Only for a core whose queue is a queue[M].
func boxOf[M any](c *core) *box[M] { return c.impl.(*cell).box.(*box[M]) } // as its queue has that type

// handleBatch ends early at a system message, or when the actor no longer runs.
func (x *box[M]) handleBatch(n int) (handled int) {
	c := &x.cell
	for handled < n && c.batched > 0 && c.core.phase == running && !c.urgent.Load() {
		handled++
		c.tally.handled++
		if c.conf.admission != nil && c.refused() {
			break
		}
		c.batched--
		if k := x.batch; k.next+1 < len(k.msgs) && len(k.tasks) == 0 {
			var msg, none M
			msg, k.msgs[k.next] = k.msgs[k.next], none
			k.next++
			handleMessage(x, msg)
			continue
		}
		msg, t := takeFirst(&x.batch, &x.queue.of.unused)
		switch t := t.(type) {
		case nil:
			handleMessage(x, msg)
		case *request: // as in draw: a function for both would be one more frame, by which stacks grow
			if why := take(c, (*metadata.Request)(t)); why != nil {
				c.reportUndelivered(item{msg: msg}, why)
			} else {
				handleRequest(x, msg)
			}
		default:
			c.runTask(t)
		}
	}
	return handled
}

// The only message of a shallow mailbox it handles itself.
func (x *box[M]) draw() (drew bool) {
	c := &x.cell
	if c.core.alone != nothingAlone {
		msg, r := takeAlone(&c.core, &x.queue)
		c.drew(refill(&c.core, &x.queue, &x.batch, c.conf.box))
		checkState(&c.core)
		c.core.mu.Unlock()
		c.tally.handled++
		c.use()
		if r == nil {
			handleMessage(x, msg)
		} else if why := take(c, r); why != nil {
			c.reportUndelivered(item{msg: msg}, why)
		} else {
			handleRequest(x, msg)
		}
		return true
	}
	c.drew(refill(&c.core, &x.queue, &x.batch, c.conf.box))
	if c.batched == 0 {
		return false
	}
	c.senders.admit()
	var only task
	if k := x.batch; c.batched == 1 && len(k.tasks) > 0 {
		only = k.tasks[k.next]
	}
	c.useBy(only)
	checkState(&c.core)
	c.core.mu.Unlock()
	return true
}

func (x *box[M]) push(it item) (over item, overflow bool) {
	msg, _ := it.msg.(M) // it is nil of a task, and may be nil if M is an interface
	return push(&x.cell.core, &x.queue, x.cell.conf.box, msg, it.beside())
}

func (x *box[M]) drainBatch(into []item) []item {
	batch := x.batch
	x.batch = nil
	return drain(batch, into, &x.queue.of.unused)
}

func (x *box[M]) drainQueue(into []item) []item { return drainQueue(&x.cell.core, &x.queue, into) }

func (x *box[M]) putBack(items []item) {
	batch := chain[M]{head: x.batch}
	prepend(&batch, items, &x.queue.of.unused)
	x.batch = batch.head
}

func (x *box[M]) priority(msg any) int {
	m, _ := msg.(M)
	return x.cell.conf.box.priority.(func(M) int)(m) // checked by checkPriority
}

func checkPriority[M any](box Mailbox, of *core) {
	if _, ok := box.priority.(func(M) int); !ok && box.priority != nil {
		var want func(M) int
		panic(fmt.Sprintf("actor: the mailbox of %s has a priority of type %T; it needs one of type %T", of.path(), box.priority, want))
	}
}

func (x *box[M]) mark() any { return markOf(x.queue.of, x.initial) }

func (x *box[M]) self() AnyRef { return ActorRef[M]{&x.cell.core} }

func tellAside[M any](c *core, msg M) {
	_ = tellBoxBy(c, msg, entrance{}) // which reports it
}

func tellBoxBy[M any](c *core, msg M, by entrance) (unfit error) {
	copied, err := carried(c, msg)
	if err != nil {
		c.sys.deadLetter(c, msg, err)
		return err
	}
	x := boxOf[M](c)
	lost, at, reason := offer(x, copied, by)
	if reason != nil {
		at.reportUndelivered(lost, reason)
	}
	if box := x.cell.conf.box; by.asks && box.capacity > 0 && box.overflow != dropOldest && errors.Is(reason, ErrMailboxFull) {
		return reason
	}
	return nil
}

// lost need not be msg: the mailbox may have dropped another one for it.
func offer[M any](x *box[M], msg M, by entrance) (lost item, at *inbox, reason error) {
	if !by.metadata.HasValues() {
		if over, overflow, done := putPlainly(x, msg, by.metadata.Request()); overflow {
			return over, &x.cell.inbox, ErrMailboxFull
		} else if done {
			return lost, nil, nil
		}
	}
	return x.cell.put(item{msg: msg}, &by)
}

// Where the message must wait, or may be refused, done is false and nothing has happened.
func putPlainly[M any](x *box[M], msg M, r *metadata.Request) (over item, overflow, done bool) {
	c := &x.cell.core
	c.mu.Lock()
	if c.plain {
		put(c, &x.queue, msg, r)
		c.unlockAndWake()
		return over, false, true
	}
	box := x.cell.conf.box
	if c.dead || c.flags.has(bypassed|resting) || c.suspended && c.stashCap > 0 || obstacleOf(&c.guarded) != nil || box.overflow == block && x.cell.full(item{}) {
		c.mu.Unlock()
		return over, false, false
	}
	over, overflow = push(c, &x.queue, box, msg, beside(r))
	c.unlockAndWake()
	return over, overflow, true
}

func accept[M any](x *box[M], msg M, by entrance) {
	if lost, at, reason := offer(x, msg, by); reason != nil {
		at.reportUndelivered(lost, reason)
	}
}

func (x *box[M]) offer(msg any, by entrance) (lost item, at *inbox, reason error) {
	m, _ := msg.(M) // a nil is the zero value
	return offer(x, m, by)
}

func (x *box[M]) takes(msg any) error { return wrongType[M](msg) }

// A nil is a message if M is an interface.
func (b *inbox) deliver(msg any, by entrance) {
	if err := b.box.takes(msg); err != nil {
		b.core.sys.deadLetter(&b.core, msg, err)
		return
	}
	if b.core.outside { // an inner cell has no mailbox
		b.post(item{msg: msg}, by)
		return
	}
	if lost, at, reason := b.box.offer(msg, by); reason != nil {
		at.reportUndelivered(lost, reason)
	}
}
