package placement

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/naming"
)

// A Spec describes an actor that the coordinator runs on some node until the spec is removed. Make
// one by [Type.Spec].
type Spec struct {
	_ struct{} `cbor:",toarray"`

	// Label is the name of the actor, unique in the cluster among specs and singletons. At most
	// 1000 bytes; required.
	Label string

	// Type is the name of the [Type] whose factory makes the actor. Required.
	Type string

	// State is the argument of the factory, encoded as CBOR by [Type.Spec]. It must fit into a
	// message between nodes.
	State []byte

	// OnCrash says what happens to the actor when its node is gone without having been drained. The
	// default is [Redistribute].
	OnCrash CrashStrategy

	// Constraints say where the actor may run. The default allows every node.
	Constraints Constraints

	err error `cbor:"-"` // of encoding the state
}

// Constraints say on which nodes an actor may run: all of them must hold. The zero value allows
// every node.
type Constraints struct {
	_ struct{} `cbor:",toarray"`

	// Roles: the node must have one of them. Empty allows every node.
	Roles []string

	// Meta: the node must have all of these pairs; see cluster.Config.Meta. Empty allows every
	// node.
	Meta map[string]string

	// AntiAffinity has the labels of actors that must not be on the same node. It holds in both
	// directions: those actors are not placed beside this one later. Empty allows every node.
	AntiAffinity []string

	// ColocateWith is the label of an actor that must be on the node, or on its way there. This
	// one starts once that actor runs. When that actor is placed on another node, this one is
	// stopped and follows it. While that actor runs nowhere, this one stays. Empty allows every
	// node.
	ColocateWith string

	// RequiredNode is the name of the only node that may run the actor; see cluster.Config.NodeID.
	// While that node is away the actor runs nowhere. For a preference use [Pinned]. Empty allows
	// every node.
	RequiredNode string
}

// A CrashStrategy says what happens to an actor when its node is gone: one of [Redistribute],
// [WaitForReturn] and [Abandon]. The zero value is Redistribute.
type CrashStrategy struct {
	_    struct{} `cbor:",toarray"`
	Kind CrashKind
	Wait time.Duration // for KindWaitForReturn; must be positive then
}

// A CrashKind is the kind of a [CrashStrategy].
type CrashKind uint8

// The kinds of crash strategies; see the functions with those names.
const (
	KindRedistribute CrashKind = iota
	KindWaitForReturn
	KindAbandon
)

// Redistribute places the actor on another node at once.
func Redistribute() CrashStrategy { return CrashStrategy{} }

// WaitForReturn waits up to d for a node of the same name to return, for example a restarted
// process, and starts the actor there. After d the actor is placed on any node. The coordinator
// does not wait for a node that was drained.
func WaitForReturn(d time.Duration) CrashStrategy {
	return CrashStrategy{Kind: KindWaitForReturn, Wait: d}
}

// Abandon removes the spec.
func Abandon() CrashStrategy { return CrashStrategy{Kind: KindAbandon} }

// String returns the strategy in Go syntax.
func (c CrashStrategy) String() string {
	switch c.Kind {
	case KindRedistribute:
		return "Redistribute()"
	case KindWaitForReturn:
		return fmt.Sprintf("WaitForReturn(%v)", c.Wait)
	case KindAbandon:
		return "Abandon()"
	}
	return fmt.Sprintf("CrashKind(%d)", c.Kind)
}

// newSpec returns the spec of an actor of a type, made from state.
func newSpec(typeName, label string, state any) Spec {
	data, err := codec.Marshal(state)
	return Spec{Label: label, Type: typeName, State: data, err: err}
}

// WithCrashStrategy returns s with another OnCrash.
func (s Spec) WithCrashStrategy(c CrashStrategy) Spec {
	s.OnCrash = c
	return s
}

// WithConstraints returns s with other Constraints.
func (s Spec) WithConstraints(c Constraints) Spec {
	s.Constraints = c
	return s
}

// Validate returns a [*FieldError] that says what is wrong with s, or nil.
func (s Spec) Validate() error {
	c := s.Constraints
	switch {
	case s.err != nil:
		return &FieldError{Field: "Spec.State", Problem: fmt.Sprintf("spec %q: %v", s.Label, s.err), cause: s.err}
	case s.Label == "":
		return badField("Spec.Label", "a spec needs a label")
	case naming.CheckText(s.Label, naming.MaxLength) != nil:
		return badField("Spec.Label", "the label %q of a spec %v", s.Label, naming.CheckText(s.Label, naming.MaxLength))
	case s.Type == "":
		return badField("Spec.Type", "spec %q needs a type; make it by the Spec method of what placement.NewType returns", s.Label)
	case s.OnCrash.Kind > KindAbandon:
		return badField("Spec.OnCrash", "spec %q has no known crash strategy: %v", s.Label, s.OnCrash)
	case s.OnCrash.Wait < 0, s.OnCrash.Kind == KindWaitForReturn && s.OnCrash.Wait == 0:
		return badField("Spec.OnCrash.Wait", "spec %q waits %v for the return of its node; give WaitForReturn a positive duration", s.Label, s.OnCrash.Wait)
	case c.ColocateWith != "" && c.ColocateWith == s.Label:
		return badField("Spec.Constraints.ColocateWith", "spec %q cannot be colocated with itself", s.Label)
	case slices.Contains(c.AntiAffinity, s.Label):
		return badField("Spec.Constraints.AntiAffinity", "spec %q cannot avoid itself", s.Label)
	case c.ColocateWith != "" && slices.Contains(c.AntiAffinity, c.ColocateWith):
		return badField("Spec.Constraints.AntiAffinity", "spec %q cannot both avoid %q and be colocated with it", s.Label, c.ColocateWith)
	}
	return s.validateTexts()
}

// validateTexts returns an error that names the field with a text that is not UTF-8.
func (s Spec) validateTexts() error {
	for field, texts := range s.texts() {
		if bad, found := notUTF8(texts); found {
			return badField("Spec."+field, "spec %q: %q is not UTF-8, and could not be read back", s.Label, bad)
		}
	}
	return nil
}

// size returns about how many bytes s takes in a message.
func (s Spec) size() int {
	n := len(s.State)
	for _, texts := range s.texts() {
		for _, text := range texts {
			n += len(text)
		}
	}
	return n
}

// texts yields the texts in s that must be UTF-8, by field.
func (s Spec) texts() iter.Seq2[string, []string] {
	c := s.Constraints
	return func(yield func(field string, texts []string) bool) {
		_ = yield("Label", []string{s.Label}) && yield("Type", []string{s.Type}) &&
			yield("Constraints.Roles", c.Roles) &&
			yield("Constraints.Meta", slices.Concat(slices.Collect(maps.Keys(c.Meta)), slices.Collect(maps.Values(c.Meta)))) &&
			yield("Constraints.AntiAffinity", c.AntiAffinity) &&
			yield("Constraints.ColocateWith", []string{c.ColocateWith}) &&
			yield("Constraints.RequiredNode", []string{c.RequiredNode})
	}
}

// notUTF8 returns the first text that is not UTF-8.
func notUTF8(texts []string) (bad string, found bool) {
	i := slices.IndexFunc(texts, func(text string) bool { return !utf8.ValidString(text) })
	if i < 0 {
		return "", false
	}
	return texts[i], true
}

// Equal reports whether s and o are equal, apart from errors of encoding the state.
func (s Spec) Equal(o Spec) bool {
	return s.Label == o.Label && s.Type == o.Type && string(s.State) == string(o.State) && s.OnCrash == o.OnCrash &&
		slices.Equal(s.Constraints.Roles, o.Constraints.Roles) && maps.Equal(s.Constraints.Meta, o.Constraints.Meta) &&
		slices.Equal(s.Constraints.AntiAffinity, o.Constraints.AntiAffinity) &&
		s.Constraints.ColocateWith == o.Constraints.ColocateWith && s.Constraints.RequiredNode == o.Constraints.RequiredNode
}
