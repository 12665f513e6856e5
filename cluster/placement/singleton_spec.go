package placement

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/singleton"
)

// A SingletonSpec describes a singleton that the coordinator keeps at an [Anchor], and whose
// instances have generations. Make one by [Type.Singleton].
type SingletonSpec struct {
	_      struct{} `cbor:",toarray"`
	Label  string   // unique in the cluster among singletons and specs; at most 255 bytes
	Type   string   // the name of the [Type] whose factory makes it
	State  []byte   // the argument of the factory, encoded as CBOR
	Anchor Anchor   // the rule that names the node that runs it

	// DrainTimeout is how long an instance that is moved or stopped may take to end. After that it
	// is replaced by an instance with a higher generation, even if it has not ended. The default is
	// 0: wait as long as its node is a member.
	DrainTimeout time.Duration

	err error `cbor:"-"` // of encoding the state
}

// newSingletonSpec returns the spec of a singleton of a type, made from state.
func newSingletonSpec(typeName, label string, state any, anchor Anchor) SingletonSpec {
	data, err := codec.Marshal(state)
	return SingletonSpec{Label: label, Type: typeName, State: data, Anchor: anchor, err: err}
}

// An Anchor says which node owns a singleton: one of [Leader], [Role] and [OnNode].
type Anchor struct {
	_    struct{} `cbor:",toarray"`
	Kind AnchorKind
	Name string // of the role or the node; "" for Leader
}

// An AnchorKind is the kind of an [Anchor].
type AnchorKind uint8

// The kinds of anchors; see [Leader], [Role] and [OnNode].
const (
	AnchorLeader AnchorKind = iota
	AnchorRole
	AnchorNode
)

// Leader is the node that runs the coordinator; see [Config.Election].
func Leader() Anchor { return Anchor{} }

// Role is the oldest node that has the role.
func Role(role string) Anchor { return Anchor{Kind: AnchorRole, Name: role} }

// OnNode is the node of that name. While it is away no node owns the singleton.
func OnNode(name string) Anchor { return Anchor{Kind: AnchorNode, Name: name} }

// String returns the anchor in Go syntax.
func (a Anchor) String() string {
	switch a.Kind {
	case AnchorLeader:
		return "Leader()"
	case AnchorRole:
		return fmt.Sprintf("Role(%q)", a.Name)
	case AnchorNode:
		return fmt.Sprintf("OnNode(%q)", a.Name)
	}
	return fmt.Sprintf("AnchorKind(%d)", a.Kind)
}

// Validate returns a [*FieldError] that says what is wrong with s, or nil.
func (s SingletonSpec) Validate() error {
	switch {
	case s.err != nil:
		return &FieldError{Field: "SingletonSpec.State", Problem: fmt.Sprintf("singleton %q: %v", s.Label, s.err), cause: s.err}
	case s.Label == "":
		return badField("SingletonSpec.Label", "a singleton needs a label")
	case naming.CheckText(s.Label, naming.MaxLength) != nil:
		return badField("SingletonSpec.Label", "the label %q of a singleton %v", s.Label, naming.CheckText(s.Label, naming.MaxLength))
	case s.Type == "":
		return badField("SingletonSpec.Type", "singleton %q needs a type; make it by the Singleton method of what placement.NewType returns", s.Label)
	case s.Anchor.Kind > AnchorNode:
		return badField("SingletonSpec.Anchor", "singleton %q has no known anchor: %v", s.Label, s.Anchor)
	case s.Anchor.Kind != AnchorLeader && s.Anchor.Name == "":
		return badField("SingletonSpec.Anchor.Name", "singleton %q: the anchor %v needs a name", s.Label, s.Anchor)
	case s.DrainTimeout < 0:
		return badField("SingletonSpec.DrainTimeout", "singleton %q has a negative DrainTimeout: %v", s.Label, s.DrainTimeout)
	}
	for field, text := range map[string]string{"Label": s.Label, "Type": s.Type, "Anchor.Name": s.Anchor.Name} {
		if !utf8.ValidString(text) {
			return badField("SingletonSpec."+field, "singleton %q: %q is not UTF-8, and could not be read back", s.Label, text)
		}
	}
	return nil
}

func (s SingletonSpec) equal(o SingletonSpec) bool {
	return s.Label == o.Label && s.Type == o.Type && bytes.Equal(s.State, o.State) && s.Anchor == o.Anchor && s.DrainTimeout == o.DrainTimeout
}

// An Ownership says which node owns a singleton, under which generation.
type Ownership struct {
	_          struct{} `cbor:",toarray"`
	Label      string
	Owner      string // the name of the node; "" while its anchor allows none
	Generation singleton.Generation
	Phase      SingletonPhase
	Error      string // why the last attempt to start it has failed; "" if nothing is wrong
}

// A SingletonPhase is the state of a singleton.
type SingletonPhase string

// The states of a singleton.
const (
	// SingletonOwnerless: the singleton waits for a node that its anchor allows.
	SingletonOwnerless SingletonPhase = "ownerless"
	// SingletonStarting: the singleton has an owner, but no instance is known to run.
	SingletonStarting SingletonPhase = "starting"
	// SingletonActive: the instance runs.
	SingletonActive SingletonPhase = "active"
	// SingletonDraining: the instance is being stopped, in order to move or remove the singleton.
	// Owner and Generation still describe that instance.
	SingletonDraining SingletonPhase = "draining"
)
