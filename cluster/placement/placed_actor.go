package placement

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/singleton"
)

type labelKey struct{}

// LabelOf returns the label of a placed actor. ctx is the context of the placed actor or of an
// actor that it has spawned. For any other context LabelOf returns "".
func LabelOf(ctx context.Context) string {
	label, _ := ctx.Value(labelKey{}).(string)
	return label
}

// agentName is the name of the agents of placement.
const agentName = "placement"

// agents returns the settings of the agent of a node with those factories.
func agents(can factories) shell.Config {
	return shell.Config{
		Name: agentName, Starter: can, Noun: "placed actor",
		Quit: "placed actor has stopped by itself, and will be started again: " +
			"actors that passivate are not for placement; remove its spec, or what stops it when it is idle",
	}
}

// A starter starts actors of one type. It hides the types of state and messages from the agent.
type starter interface {
	start(under *actor.Context[any], r home.StartRequest, on shell.Hooks) shell.Running // as shell.Starter
	typeName() string
}

type typed[S, M any] struct {
	name    string
	factory func(S) actor.Behavior[M]
	opts    []actor.SpawnOption
}

func (t typed[S, M]) typeName() string { return t.name }

func (t typed[S, M]) start(under *actor.Context[any], r home.StartRequest, on shell.Hooks) shell.Running {
	name := escape(r.Label)
	ctx := context.WithValue(under, labelKey{}, r.Label)
	if r.Generation != (singleton.Generation{}) {
		ctx = tenure.With(ctx, tenure.New(under.Self().Path()+"/"+name, tenure.Generation(r.Generation), tenure.Hooks{Refused: on.Broken}))
	}
	of := &stay{lane: hubOf(under.System()).lane(name)}
	ref := actor.Spawn(under, t.placed(r, of, on), name, append(slices.Clone(t.opts), extension.WithContext(ctx))...)
	return shell.Running{Ref: ref, Leave: of.leave, Stop: func() {
		if of.takes() {
			under.Drain(ref) // what it has been sent is older than what waits for the next one
		} else {
			under.Stop(ref)
		}
	}}
}

// placed returns the first behavior of a placed actor.
func (t typed[S, M]) placed(r home.StartRequest, of *stay, on shell.Hooks) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		ctx.Notify(func() actor.Behavior[M] { return t.begin(ctx, r.Label, of, on) })() // runs when the actor has started, after any restarts
		ctx.Defer(of.leave)
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

// begin lets messages come, and reports that the actor has started.
func (t typed[S, M]) begin(ctx *actor.Context[M], label string, of *stay, on shell.Hooks) actor.Behavior[M] {
	if err := of.begin(label, reflect.TypeFor[M](), deliverTo(ctx.Self())); err != nil {
		on.Broken(err)
		return func(_ *actor.Context[M], next *actor.Next[M]) { next.Stop() }
	}
	on.Started()
	return nil
}

// escape returns a name for the actor of a label and its service, different for each label.
func escape(label string) string {
	var b strings.Builder
	for i := range len(label) {
		switch c := label[i]; {
		case plain(rune(c)):
			b.WriteByte(c)
		case c == '/':
			b.WriteByte(':')
		default:
			fmt.Fprintf(&b, "~%02X", c)
		}
	}
	return b.String()
}

// plain reports whether escape keeps a character.
func plain(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.+@", c)
}
