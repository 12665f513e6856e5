package placement

import (
	"time"

	"github.com/understudy-go/understudy/cluster/placement/internal/plan"
	"github.com/understudy-go/understudy/singleton/generation"
)

// The description of what runs, and where. These types belong to the planner, the part of the
// coordinator that decides; package plan documents their fields.
type (
	// A Spec describes an actor that the coordinator runs on some node until the spec is removed.
	// Make one by [Type.Spec].
	Spec = plan.Spec

	// Constraints say on which nodes an actor may run: all of them must hold. The zero value allows
	// every node.
	Constraints = plan.Constraints

	// A CrashStrategy says what happens to an actor when its node is gone: one of
	// [Redistribute], [WaitForReturn] and [Abandon]. The zero value is Redistribute.
	CrashStrategy = plan.CrashStrategy

	// A CrashKind is the kind of a [CrashStrategy].
	CrashKind = plan.CrashKind

	// A SingletonSpec describes a singleton that the coordinator keeps at an [Anchor], and whose
	// instances have generations. Make one by [Type.Singleton].
	SingletonSpec = plan.SingletonSpec

	// An Anchor says which node owns a singleton: one of [Leader], [Role] and [OnNode].
	Anchor = plan.Anchor

	// An AnchorKind is the kind of an [Anchor].
	AnchorKind = plan.AnchorKind

	// A Strategy chooses among the nodes that the constraints of an actor allow.
	Strategy = plan.Strategy

	// A StrategyFunc makes a [Strategy] of a function. Its name is "func".
	StrategyFunc = plan.StrategyFunc

	// A Generation is the fencing token of a managed singleton's instance; see
	// singleton.GenerationOf.
	Generation = generation.Generation
)

// The coordinator's knowledge of the cluster.
type (
	// A View is an immutable snapshot of the cluster as the coordinator knows it. A very large View
	// is read in several parts, which may differ in time; see [Coordinator.View].
	View = plan.View

	// A Node is a member of the cluster as the coordinator knows it.
	Node = plan.Node

	// A Status describes a spec and its actor.
	Status = plan.Status

	// A State is the state of a spec.
	State = plan.State

	// A Decision says where an actor was placed, and why.
	Decision = plan.Decision

	// A Candidate is a node that was considered for an actor.
	Candidate = plan.Candidate

	// An Explanation says why an actor is where it is, or why it runs nowhere.
	Explanation = plan.Explanation

	// An Ownership says which node owns a singleton, under which generation.
	Ownership = plan.Ownership

	// A SingletonPhase is the state of a singleton.
	SingletonPhase = plan.SingletonPhase

	// A FieldError names a field of a spec or of [Config] that has an invalid value. For a spec it
	// is wrapped together with [ErrInvalid].
	FieldError = plan.FieldError

	// A NoEligibleNodesError says how many nodes each filter has removed. It matches
	// [ErrNoEligibleNodes].
	NoEligibleNodesError = plan.NoEligibleNodesError

	// A NotLeaderError names the node that leads, as far as is known. It matches [ErrNotLeader].
	NotLeaderError = plan.NotLeaderError
)

// The kinds of crash strategies; see the functions with those names.
const (
	KindRedistribute  = plan.KindRedistribute
	KindWaitForReturn = plan.KindWaitForReturn
	KindAbandon       = plan.KindAbandon
)

// The kinds of anchors; see [Leader], [Role] and [OnNode].
const (
	AnchorLeader = plan.AnchorLeader
	AnchorRole   = plan.AnchorRole
	AnchorNode   = plan.AnchorNode
)

// The states of a spec.
const (
	Running          = plan.Running          // its actor runs
	Pending          = plan.Pending          // its actor is being started, or stopped in order to be moved
	WaitingForReturn = plan.WaitingForReturn // its node is gone and expected back
	Unplaced         = plan.Unplaced         // no node is eligible, or the last attempt failed and the next is due later
)

// The states of a singleton.
const (
	SingletonOwnerless = plan.SingletonOwnerless // waits for a node that its anchor allows
	SingletonStarting  = plan.SingletonStarting  // has an owner, but no instance is known to run
	SingletonActive    = plan.SingletonActive    // runs
	SingletonDraining  = plan.SingletonDraining  // is being stopped, in order to be moved or removed; owner and generation still describe that instance
)

// Errors of the methods of [Coordinator]. Compare with [errors.Is].
var (
	// ErrNotLeader is returned when no coordinator could be asked: no node is elected, or the
	// elected one does not answer. A [*NotLeaderError] names it.
	ErrNotLeader = plan.ErrNotLeader

	// ErrNoEligibleNodes is returned when no node may run an actor. A [*NoEligibleNodesError]
	// says why.
	ErrNoEligibleNodes = plan.ErrNoEligibleNodes

	// ErrExists is returned when the label is in use.
	ErrExists = plan.ErrExists

	// ErrNotFound is returned when no spec or singleton has the label.
	ErrNotFound = plan.ErrNotFound

	// ErrInvalid is returned for a spec that can never be placed, or that the journal does not
	// accept. A [*FieldError] names the field, if one is to blame.
	ErrInvalid = plan.ErrInvalid

	// ErrStrategy is returned when the strategy panics.
	ErrStrategy = plan.ErrStrategy

	// ErrInProgress is returned while a singleton is being moved or stopped.
	ErrInProgress = plan.ErrInProgress

	// ErrNoOwner is returned by MoveSingleton for a singleton that runs nowhere. It starts by
	// itself as soon as its anchor allows.
	ErrNoOwner = plan.ErrNoOwner

	// ErrSource is returned when the source of generations fails or does not answer.
	ErrSource = plan.ErrSource
)

// Redistribute places the actor on another node at once.
func Redistribute() CrashStrategy { return plan.Redistribute() }

// WaitForReturn waits up to d for a node of the same name to return, for example a restarted
// process, and starts the actor there. After d the actor is placed on any node. The coordinator
// does not wait for a node that was drained.
func WaitForReturn(d time.Duration) CrashStrategy { return plan.WaitForReturn(d) }

// Abandon removes the spec.
func Abandon() CrashStrategy { return plan.Abandon() }

// Leader is the node that runs the coordinator; see [Config.Election].
func Leader() Anchor { return plan.Leader() }

// Role is the oldest node that has the role.
func Role(role string) Anchor { return plan.Role(role) }

// OnNode is the node of that name. While it is away no node owns the singleton.
func OnNode(name string) Anchor { return plan.OnNode(name) }

// LeastLoaded prefers the node that runs the fewest actors, counting those on their way there.
func LeastLoaded() Strategy { return plan.LeastLoaded() }

// Pinned prefers the node of that name. While that node is not eligible, Pinned chooses any other.
// To allow no other node, use [Constraints].RequiredNode.
func Pinned(node string) Strategy { return plan.Pinned(node) }

// Random chooses any eligible node with equal probability. The same seed makes the same choices
// among the same nodes.
func Random(seed uint64) Strategy { return plan.Random(seed) }
