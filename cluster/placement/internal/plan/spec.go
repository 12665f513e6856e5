package plan

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

// A Spec describes an actor that the coordinator is to run somewhere in the cluster, as
// long as it is not removed. Make one by [Type.Spec].
type Spec struct {
	_ struct{} `cbor:",toarray"`

	// Label is the name of the actor, the only one of that name in the cluster.
	Label string

	// Type is the name of what makes the actor, see [NewType].
	Type string

	// State is what it is made from, in CBOR; [Type.Spec] encodes it.
	State []byte

	// OnCrash says what becomes of the actor when its node is gone without having been
	// drained. The zero value is [Redistribute].
	OnCrash CrashStrategy

	// Constraints say where it may run. The zero value is anywhere.
	Constraints Constraints

	err error // of encoding the state
}

// Constraints say which nodes an actor may run on: all of them must hold.
type Constraints struct {
	_ struct{} `cbor:",toarray"`

	// Roles are those of which a node must have one. None means that any node will do.
	Roles []string

	// Meta are pairs of which a node must have all, see cluster.Config.Meta.
	Meta map[string]string

	// AntiAffinity are labels of actors beside which this one does not run, nor they beside
	// it if they come later.
	AntiAffinity []string

	// ColocateWith is the label of an actor that must be on the node already, or be on its
	// way there. When that is placed on another node, this one is stopped and follows it;
	// while that is nowhere, this one goes on where it is.
	ColocateWith string

	// RequiredNode is the name of the only node to run on, see cluster.Config.NodeID. While
	// it is away the actor runs nowhere. For a preference there is [Pinned].
	RequiredNode string
}

// A CrashStrategy says what becomes of an actor when its node is gone: one of
// [Redistribute], [WaitForReturn] and [Abandon]. The zero value is Redistribute.
type CrashStrategy struct {
	_    struct{} `cbor:",toarray"`
	Kind CrashKind
	Wait time.Duration // of waiting for the node's return
}

// A CrashKind is the kind of a [CrashStrategy].
type CrashKind uint8

// The kinds of crash strategies, see the functions of their names.
const (
	KindRedistribute CrashKind = iota
	KindWaitForReturn
	KindAbandon
)

// Redistribute places the actor on another node at once.
func Redistribute() CrashStrategy { return CrashStrategy{} }

// WaitForReturn waits so long for a node of the same name to return, a restarted process
// for instance, and starts the actor there; after that it is placed on any node. A node
// that was drained, as it left in good order, is not waited for.
func WaitForReturn(d time.Duration) CrashStrategy {
	return CrashStrategy{Kind: KindWaitForReturn, Wait: d}
}

// Abandon forgets the actor.
func Abandon() CrashStrategy { return CrashStrategy{Kind: KindAbandon} }

// String returns the strategy as it is written in Go.
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
func NewSpec(typeName, label string, state any) Spec {
	data, err := codec.Marshal(state)
	return Spec{Label: label, Type: typeName, State: data, err: err}
}

// WithCrashStrategy returns s with what is to become of the actor when its node is gone.
func (s Spec) WithCrashStrategy(c CrashStrategy) Spec {
	s.OnCrash = c
	return s
}

// WithConstraints returns s with where the actor may run.
func (s Spec) WithConstraints(c Constraints) Spec {
	s.Constraints = c
	return s
}

// validate returns what is wrong with s.
func (s Spec) Validate() error {
	c := s.Constraints
	switch {
	case s.err != nil:
		return &FieldError{Field: "Spec.State", Problem: fmt.Sprintf("spec %q: %v", s.Label, s.err), cause: s.err}
	case s.Label == "":
		return BadField("Spec.Label", "a spec needs a label")
	case naming.CheckText(s.Label, naming.MaxLength) != nil:
		return BadField("Spec.Label", "the label %q of a spec %v", s.Label, naming.CheckText(s.Label, naming.MaxLength))
	case s.Type == "":
		return BadField("Spec.Type", "spec %q needs a type; make it by the Spec method of what placement.NewType returns", s.Label)
	case s.OnCrash.Kind > KindAbandon:
		return BadField("Spec.OnCrash", "spec %q has no known crash strategy: %v", s.Label, s.OnCrash)
	case s.OnCrash.Wait < 0, s.OnCrash.Kind == KindWaitForReturn && s.OnCrash.Wait == 0:
		return BadField("Spec.OnCrash.Wait", "spec %q waits %v for the return of its node; give WaitForReturn a positive duration", s.Label, s.OnCrash.Wait)
	case c.ColocateWith != "" && c.ColocateWith == s.Label:
		return BadField("Spec.Constraints.ColocateWith", "spec %q cannot be colocated with itself", s.Label)
	case slices.Contains(c.AntiAffinity, s.Label):
		return BadField("Spec.Constraints.AntiAffinity", "spec %q cannot avoid itself", s.Label)
	case c.ColocateWith != "" && slices.Contains(c.AntiAffinity, c.ColocateWith):
		return BadField("Spec.Constraints.AntiAffinity", "spec %q cannot both avoid %q and be colocated with it", s.Label, c.ColocateWith)
	}
	return s.validateTexts()
}

// validateTexts names the field with a text that could not be read back.
func (s Spec) validateTexts() error {
	for field, texts := range s.texts() {
		if bad, found := notUTF8(texts); found {
			return BadField("Spec."+field, "spec %q: %q is not UTF-8, and could not be read back", s.Label, bad)
		}
	}
	return nil
}

// size is about how many bytes s has in a message.
func (s Spec) size() int {
	n := len(s.State)
	for _, texts := range s.texts() {
		for _, text := range texts {
			n += len(text)
		}
	}
	return n
}

// texts yields all of s that must be UTF-8, by field.
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

// notUTF8 returns the first that is not.
func notUTF8(texts []string) (bad string, found bool) {
	i := slices.IndexFunc(texts, func(text string) bool { return !utf8.ValidString(text) })
	if i < 0 {
		return "", false
	}
	return texts[i], true
}

// Equal reports whether both describe the same actor in the same way.
func (s Spec) Equal(o Spec) bool {
	return s.Label == o.Label && s.Type == o.Type && string(s.State) == string(o.State) && s.OnCrash == o.OnCrash &&
		slices.Equal(s.Constraints.Roles, o.Constraints.Roles) && maps.Equal(s.Constraints.Meta, o.Constraints.Meta) &&
		slices.Equal(s.Constraints.AntiAffinity, o.Constraints.AntiAffinity) &&
		s.Constraints.ColocateWith == o.Constraints.ColocateWith && s.Constraints.RequiredNode == o.Constraints.RequiredNode
}
