package placement

import (
	"context"
	"fmt"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

type labelKey struct{}

// LabelOf returns the label of a placed actor. ctx is the context of the placed actor or of an
// actor that it has spawned. For any other context LabelOf returns "".
func LabelOf(ctx context.Context) string {
	label, _ := ctx.Value(labelKey{}).(string)
	return label
}

// A starter starts actors of one type. It hides the types of state and messages from the agent.
type starter interface {
	// start spawns an actor, and returns at once. Everything that may fail or block happens in the
	// new actor.
	start(under *actor.Context[any], r hosting.StartRequest, on placedHooks) placedActor
	typeName() string
}

// A placedActor is an actor that has been started.
type placedActor struct {
	ref   actor.AnyRef
	leave func() // removes it from the receptionist; may be called from any goroutine
}

// placedHooks are called inside the new actor, and broken by any goroutine.
type placedHooks struct {
	started func()          // it runs, and is registered
	broken  func(why error) // it must end, without having failed
}

type typed[S, M any] struct {
	name    string
	factory func(S) actor.Behavior[M]
}

func (t typed[S, M]) typeName() string { return t.name }

func (t typed[S, M]) start(under *actor.Context[any], r hosting.StartRequest, on placedHooks) placedActor {
	name := escape(r.Label)
	ctx := context.WithValue(under, labelKey{}, r.Label)
	if r.Generation != (Generation{}) {
		ctx = singletonhook.WithGeneration(ctx, under.Self().Path()+"/"+name, r.Generation, on.broken)
	}
	ref := actor.Spawn(under, t.placed(r, on), name, extension.WithContext(ctx))
	return placedActor{ref, func() { receptionist.Deregister(under.System(), keyOf[M](r.Label), ref) }}
}

// placed returns the first behavior of a placed actor.
func (t typed[S, M]) placed(r hosting.StartRequest, on placedHooks) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		ctx.Notify(func() actor.Behavior[M] { return t.begin(ctx, r.Label, on) })() // runs when the actor has started, after any restarts
		ctx.Defer(func() { receptionist.Deregister(ctx.System(), keyOf[M](r.Label), ctx.Self()) })
		var state S
		if err := codec.Unmarshal(r.State, &state); err != nil {
			next.Fail(fmt.Errorf("placement: the state of %q cannot be decoded as one of type %q: %w", r.Label, t.name, err))
			return
		}
		b := t.factory(state)
		if b == nil {
			next.Fail(fmt.Errorf("placement: the factory of type %q has returned no behavior for %q", t.name, r.Label))
			return
		}
		if _, halted := extension.Halted(ctx.System()); halted || ctx.Err() != nil { // it was stopped while the factory ran
			next.Stop()
			return
		}
		b(ctx, next)
	}
}

// begin registers the actor, and reports that it has started.
func (t typed[S, M]) begin(ctx *actor.Context[M], label string, on placedHooks) actor.Behavior[M] {
	if err := introduce(ctx, label); err != nil {
		on.broken(err)
		return func(_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }
	}
	on.started()
	return nil
}

// introduce registers the actor at the receptionist.
func introduce[M any](ctx *actor.Context[M], label string) error {
	err := guard.Do(func() { receptionist.Register(ctx.System(), keyOf[M](label), ctx.Self()) })
	if err != nil {
		return fmt.Errorf("placement: %q cannot be registered: %w", label, err)
	}
	return nil
}

// keyOf returns the service key of the actor of a label.
func keyOf[M any](label string) receptionist.ServiceKey[M] {
	return receptionist.NewKey[M]("placement/" + escape(label))
}

// escape returns a name for the actor of a label and its service, different for each label.
func escape(label string) string {
	var b strings.Builder
	for i := range len(label) {
		switch c := label[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.+@", c) >= 0:
			b.WriteByte(c)
		case c == '/':
			b.WriteByte(':')
		default:
			fmt.Fprintf(&b, "~%02X", c)
		}
	}
	return b.String()
}
