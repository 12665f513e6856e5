package plan

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/singleton/generation"
)

// A Generation is the fencing token of a managed singleton's instance; see
// [generation.Generation].
type Generation = generation.Generation

// A SingletonSpec describes an actor that the coordinator keeps at an anchor, and whose
// instances have generations. Make one by [Type.Singleton].
type SingletonSpec struct {
	_      struct{} `cbor:",toarray"`
	Label  string   // the only one in the cluster, of specs too
	Type   string   // the name of its [Type]
	State  []byte   // what its factory is given, encoded
	Anchor Anchor   // which node is to run it

	// DrainTimeout is how long an instance that is moved or stopped may take to end. After
	// that it is replaced, with a higher generation, whether it has ended or not. Zero waits
	// as long as its node is there.
	DrainTimeout time.Duration

	err error // of encoding the state
}

// newSingletonSpec returns the spec of a singleton of a type, made from state.
func NewSingletonSpec(typeName, label string, state any, anchor Anchor) SingletonSpec {
	data, err := codec.Marshal(state)
	return SingletonSpec{Label: label, Type: typeName, State: data, Anchor: anchor, err: err}
}

// An Anchor says which node owns a singleton: one of [Leader], [Class] and [OnNode].
type Anchor struct {
	_    struct{} `cbor:",toarray"`
	Kind AnchorKind
	Name string // of the role or the node
}

// An AnchorKind is the kind of an [Anchor].
type AnchorKind uint8

// The kinds of anchors, see [Leader], [Class] and [OnNode].
const (
	AnchorLeader AnchorKind = iota
	AnchorRole
	AnchorNode
)

// Leader is the node that is elected, see [Config.Election].
func Leader() Anchor { return Anchor{} }

// Class is the oldest node that has a role.
func Role(role string) Anchor { return Anchor{Kind: AnchorRole, Name: role} }

// OnNode is the node of that name, and nobody while it is away.
func OnNode(name string) Anchor { return Anchor{Kind: AnchorNode, Name: name} }

// String returns the anchor as it is written in Go.
func (a Anchor) String() string {
	switch a.Kind {
	case AnchorLeader:
		return "Leader()"
	case AnchorRole:
		return fmt.Sprintf("Class(%q)", a.Name)
	case AnchorNode:
		return fmt.Sprintf("OnNode(%q)", a.Name)
	}
	return fmt.Sprintf("AnchorKind(%d)", a.Kind)
}

func (s SingletonSpec) Validate() error {
	switch {
	case s.err != nil:
		return &FieldError{Field: "SingletonSpec.State", Problem: fmt.Sprintf("singleton %q: %v", s.Label, s.err), cause: s.err}
	case s.Label == "":
		return BadField("SingletonSpec.Label", "a singleton needs a label")
	case naming.CheckText(s.Label, naming.MaxLength) != nil:
		return BadField("SingletonSpec.Label", "the label %q of a singleton %v", s.Label, naming.CheckText(s.Label, naming.MaxLength))
	case s.Type == "":
		return BadField("SingletonSpec.Type", "singleton %q needs a type; make it by the Singleton method of what placement.NewType returns", s.Label)
	case s.Anchor.Kind > AnchorNode:
		return BadField("SingletonSpec.Anchor", "singleton %q has no known anchor: %v", s.Label, s.Anchor)
	case s.Anchor.Kind != AnchorLeader && s.Anchor.Name == "":
		return BadField("SingletonSpec.Anchor.Name", "singleton %q: the anchor %v needs a name", s.Label, s.Anchor)
	case s.DrainTimeout < 0:
		return BadField("SingletonSpec.DrainTimeout", "singleton %q has a negative DrainTimeout: %v", s.Label, s.DrainTimeout)
	}
	for field, text := range map[string]string{"Label": s.Label, "Type": s.Type, "Anchor.Name": s.Anchor.Name} {
		if !utf8.ValidString(text) {
			return BadField("SingletonSpec."+field, "singleton %q: %q is not UTF-8, and could not be read back", s.Label, text)
		}
	}
	return nil
}

func (s SingletonSpec) equal(o SingletonSpec) bool {
	return s.Label == o.Label && s.Type == o.Type && bytes.Equal(s.State, o.State) && s.Anchor == o.Anchor && s.DrainTimeout == o.DrainTimeout
}

// An Ownership says where a singleton is.
type Ownership struct {
	_          struct{} `cbor:",toarray"`
	Label      string
	Owner      string // the name of the node; "" while its anchor allows none
	Generation Generation
	Phase      SingletonPhase
	Error      string // why it has not started, if it was tried; "" when nothing is wrong
}

// A SingletonPhase is what is going on with a singleton.
type SingletonPhase string

const (
	// SingletonOwnerless is waiting for a node that its anchor allows.
	SingletonOwnerless SingletonPhase = "ownerless"
	// SingletonStarting has an owner, and no instance that is known to run.
	SingletonStarting SingletonPhase = "starting"
	// SingletonActive runs.
	SingletonActive SingletonPhase = "active"
	// SingletonDraining is being stopped on its owner, to be moved or to end. The owner and the
	// generation are still those of the instance that is being stopped.
	SingletonDraining SingletonPhase = "draining"
)
