package placement

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

// maxHeld is how many messages a ref buffers while its actor does not run.
const maxHeld = 1000

// The reasons for which messages to a ref of [Type.Ref] are not handled. Compare with [errors.Is].
var (
	// ErrUnavailable: this node knows of no actor of the label that it can reach; the text says
	// why, since when, and until when at the latest if a node has died. Check that the label was
	// submitted, and ask [Coordinator.Explain] why it does not run. Ask again if the error of the
	// ask wraps [actor.ErrWithdrawn]; otherwise the request may have been handled.
	ErrUnavailable = errors.New("placement: no actor of that label runs")

	// ErrBufferFull: no actor of the label runs, and more than 1000 messages wait for one. The
	// oldest are dropped. It wraps [ErrUnavailable].
	ErrBufferFull = fmt.Errorf("%w, and the buffer is full", ErrUnavailable)
)

func init() {
	actor.RegisterError("understudy/placement.unavailable", ErrUnavailable)
	actor.RegisterError("understudy/placement.buffer-full", ErrBufferFull)
}

// Ref returns a ref to the actor of a label, on whichever node it runs. It follows the actor to
// other nodes. While this node knows of no running actor, the ref buffers up to 1000 messages;
// further messages turn the oldest into dead letters with [ErrBufferFull]. A label may therefore be
// used before it has been submitted. Messages of one sender stay in order. As with any actor,
// messages are lost if the actor ends before it has handled them; use Ask to be sure. An Ask ends
// with [actor.ErrUnreachable] when the node of the actor that has its request is removed from the
// cluster.
//
// The ref addresses a forwarding actor on this node, and has its path. The forwarding actor lives
// as long as s: each label costs about 2 KB on each node that has called Ref for it. To watch the
// placed actor, ask it for its own ref.
//
// Ref panics if the label is used with another message type on this node. If the actor on another
// node takes another type, messages become dead letters with [actor.ErrWrongType].
func (t Type[S, M]) Ref(s *actor.System, label string) actor.ActorRef[M] {
	return refTo[M](s, label)
}

// refs are the forwarding actors of a system, by label.
type refs struct {
	mu      sync.Mutex // guards byLabel
	byLabel map[string]any
	waiting sync.Map // path of a forwarding actor whose messages do not get through → why, as an error
}

// unavailable explains why an ask got no reply, see [extension.OnAskTimeout].
func (r *refs) unavailable(path string) error {
	why, _ := r.waiting.Load(path)
	err, _ := why.(error)
	return err
}

func refTo[M any](s *actor.System, label string) actor.ActorRef[M] {
	key := keyOf[M](label)
	receptionist.Find(s, key) // panics here rather than in the actor
	all := extension.Ensure(s, func() *refs {
		all := &refs{byLabel: map[string]any{}}
		extension.OnAskTimeout(s, all.unavailable)
		return all
	})
	all.mu.Lock()
	defer all.mu.Unlock()
	known, exists := all.byLabel[label]
	if ref, ok := known.(actor.ActorRef[M]); ok {
		return ref
	}
	if exists {
		panic(fmt.Sprintf("placement: %q is used with %T on this node, and cannot take %v too; give it another label", label, known, reflect.TypeFor[M]()))
	}
	ref := actor.Spawn(extension.Framework(s), forward(key, label, &all.waiting), "placement-ref:"+escape(label))
	all.byLabel[label] = ref
	return ref
}

// forward returns the behavior that forwards messages to the one instance of a service.
func forward[M any](key receptionist.ServiceKey[M], label string, waiting *sync.Map) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		f := &forwarder[M]{ctx: ctx, label: label, waiting: waiting}
		_, f.path, _ = strings.Cut(ctx.Self().Path(), ctx.System().Address())
		f.take(receptionist.Find(ctx.System(), key))
		ctx.Defer(receptionist.Subscribe(ctx.System(), key, extension.Handle(ctx, func(l receptionist.Listing[M]) actor.Behavior[M] {
			f.take(l)
			return nil
		})))
		ctx.Defer(f.close)
		next.OnMessage = func(ctx *actor.Context[M], msg M) actor.Behavior[M] {
			f.told(extension.Describe(ctx, msg))
			return nil
		}
	}
}

type forwarder[M any] struct {
	ctx     *actor.Context[M]
	label   string
	path    string                     // within the system
	to      actor.ActorRef[M]          // zero for none
	known   map[actor.ActorRef[M]]bool // the last listing
	wrong   error                      // the only actor of the label takes other messages
	away    string                     // why messages wait; "" if they do not
	since   time.Time                  // when that began
	waiting *sync.Map                  // of all refs
	held    fifo.Queue[extension.Described[M]]
}

// take follows the listing. For a moment both an actor and its successor may be listed; then the
// forwarder uses the one that was listed last.
func (f *forwarder[M]) take(l receptionist.Listing[M]) {
	known, best := map[actor.ActorRef[M]]bool{}, receptionist.Instance[M]{}
	for i, each := range l.Instances {
		known[each.Ref] = true
		if i == 0 || f.prefers(each, best) {
			best = each
		}
	}
	f.to, f.known, f.wrong = best.Ref, known, nil
	if len(known) == 0 {
		f.wrong = l.Err
	}
	switch {
	case len(known) == 0:
		f.waits("runs on no node that is known here")
	case !best.Reachable:
		f.waits(fmt.Sprintf("runs on %s, which cannot be reached; it moves when that node is removed", best.Node))
	default:
		f.waits("")
	}
	f.flush()
}

// waits notes why messages do not reach the actor; "" if they do.
func (f *forwarder[M]) waits(why string) {
	if f.away == "" {
		f.since = time.Now()
	}
	if f.away = why; why == "" {
		f.waiting.Delete(f.path)
		return
	}
	failover, _ := extension.Get[singletonhook.Failover](f.ctx.System())
	f.waiting.Store(f.path, fmt.Errorf("%w: %q %s%s", ErrUnavailable, f.label, why, failover.Since(f.since, false)))
}

func (f *forwarder[M]) prefers(a, b receptionist.Instance[M]) bool {
	if a.Reachable != b.Reachable {
		return a.Reachable
	}
	if f.known[a.Ref] != f.known[b.Ref] {
		return !f.known[a.Ref]
	}
	return a.Ref == f.to
}

// flush sends the buffered messages, if that is possible.
func (f *forwarder[M]) flush() {
	switch {
	case f.wrong != nil:
		f.giveUp(f.wrong)
	case f.away == "":
		for f.held.Len() > 0 {
			f.pass(f.held.Pop())
		}
	}
}

// pass forwards a message, unless it is the request of an Ask that has ended.
func (f *forwarder[M]) pass(h extension.Described[M]) {
	if !h.Withdrawn() {
		extension.Explain(f.ctx.System(), h.Message, nil) // it does not wait any more
		h.PassOn(f.to)
	} else {
		f.deadLetter(h.Message, actor.ErrWithdrawn)
	}
}

func (f *forwarder[M]) told(d extension.Described[M]) {
	if f.held.Len() == 0 && f.wrong == nil && f.away == "" {
		d.PassOn(f.to)
		return
	}
	why, _ := f.waiting.Load(f.path)
	err, _ := why.(error)
	extension.Explain(f.ctx.System(), d.Message, err) // an ask of another node cannot know
	f.held.Push(d.Hold())
	f.flush()
	if f.held.Len() > maxHeld {
		f.makeRoom()
	}
}

// makeRoom drops the requests of Asks that have ended. If it finds no such request, it drops the
// oldest message.
func (f *forwarder[M]) makeRoom() {
	ended := f.held.Remove(func(h extension.Described[M]) bool { return h.Withdrawn() })
	for _, h := range ended {
		f.deadLetter(h.Message, actor.ErrWithdrawn)
	}
	if len(ended) == 0 {
		f.deadLetter(f.held.Pop().Message, ErrBufferFull)
	}
}

func (f *forwarder[M]) close() { f.giveUp(ErrUnavailable) }

func (f *forwarder[M]) giveUp(why error) {
	for f.held.Len() > 0 {
		f.deadLetter(f.held.Pop().Message, why)
	}
}

func (f *forwarder[M]) deadLetter(msg M, why error) {
	extension.DeadLetter(f.ctx.System(), f.ctx.Self().Path(), msg, why)
}
