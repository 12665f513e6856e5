package placement

import (
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/placement/internal/plan"
)

// The description of what runs, and where. These types belong to the planner, the part of the
// coordinator that decides. go doc shows their fields and methods under the path of that package:
//
//	go doc github.com/understudy-go/understudy/cluster/placement/internal/plan Spec
type (
	// A Spec describes an actor that the coordinator runs on some node until the spec is removed.
	// Make one by [Type.Spec]. WithConstraints, WithCrashStrategy, Validate and Equal are its
	// methods; Label, Type, State, OnCrash and Constraints its fields.
	Spec = plan.Spec

	// Constraints say on which nodes an actor may run: all of them must hold. The zero value allows
	// every node. The fields are Roles (one of them), Meta (all of them), AntiAffinity,
	// ColocateWith and RequiredNode.
	Constraints = plan.Constraints

	// A CrashStrategy says what happens to an actor when its node is gone: one of
	// [Redistribute], [WaitForReturn] and [Abandon]. The zero value is Redistribute. Its fields are
	// Kind and Wait.
	CrashStrategy = plan.CrashStrategy

	// A CrashKind is the kind of a [CrashStrategy].
	CrashKind = plan.CrashKind

	// A SingletonSpec describes a singleton that the coordinator keeps at an [Anchor], and whose
	// instances have generations. Make one by [Type.Singleton]. Its fields are Label, Type, State,
	// Anchor and DrainTimeout; Validate is its method.
	SingletonSpec = plan.SingletonSpec

	// An Anchor says which node owns a singleton: one of [Leader], [Role] and [OnNode]. Its fields
	// are Kind and Name.
	Anchor = plan.Anchor

	// An AnchorKind is the kind of an [Anchor].
	AnchorKind = plan.AnchorKind

	// A Strategy chooses among the nodes that the constraints of an actor allow. It is an interface
	// with the methods Name() string and Score(Node, Spec, View) float64; the highest score wins,
	// and a score that is not above zero excludes the node.
	Strategy = plan.Strategy

	// A StrategyFunc makes a [Strategy] of a function. Its name is "func".
	StrategyFunc = plan.StrategyFunc
)

// The coordinator's knowledge of the cluster. go doc shows the fields and methods of View and Node
// under the path cluster/internal/home, and of the others under the path of package plan, as for
// [Spec].
type (
	// A View is an immutable snapshot of the cluster as the coordinator knows it. A very large View
	// is read in several parts, which may differ in time; see [Coordinator.View]. Nodes is its
	// field; Alive, Find(label) and Node(name) are its methods.
	View = home.View

	// A Node is a member of the cluster as the coordinator knows it. Alive, HasRole(role) and
	// Runs(label) are its methods; Name, Address, Roles, Meta, Up, Reachable, Ready, Draining,
	// Actors and AppVersion are among its fields.
	Node = home.Node

	// A Status describes a spec and its actor. Its fields are Spec, State, Node, Since, Attempts,
	// LastError and NextAttempt.
	Status = plan.Status

	// A State is the state of a spec: [Running] or another of the constants below.
	State = plan.State

	// A Decision says where an actor was placed, and why. Its fields are Label, Node, Strategy and
	// Score; String is its method.
	Decision = plan.Decision

	// A Candidate is a node that was considered for an actor. Its fields are Node, Score and Why.
	Candidate = plan.Candidate

	// An Explanation says why an actor is where it is, or why it runs nowhere. Its fields are
	// Status, Awaited, Decision, Candidates and Error.
	Explanation = plan.Explanation

	// An Ownership says which node owns a singleton, under which generation. Its fields are Label,
	// Owner, Generation, Phase and Error.
	Ownership = plan.Ownership

	// A SingletonPhase is the state of a singleton: [SingletonActive] or another of the constants
	// below.
	SingletonPhase = plan.SingletonPhase

	// A FieldError names a field of a spec or of [Config] that has an invalid value; its text says
	// what to do. For a spec it is wrapped together with [ErrInvalid]. Its fields are Field and
	// Problem.
	FieldError = plan.FieldError

	// A NoEligibleNodesError says how many nodes each constraint has removed: relax it, or start a
	// node that fits. "without placement" means that a node has not called [Start].
	//
	// It matches [ErrNoEligibleNodes]. Its fields are Label, Considered and Removed.
	NoEligibleNodesError = plan.NoEligibleNodesError

	// A NotLeaderError says why no coordinator could be asked. If no node is elected, call [Start]
	// on one that has Config.Role. Otherwise wait for failover. It matches [ErrNotLeader].
	//
	// Leader is the node that leads, as far as is known. Cause says why that node could not be
	// asked.
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
	// ErrNotLeader: no coordinator could be asked. A [*NotLeaderError] says why.
	ErrNotLeader = plan.ErrNotLeader

	// ErrNoEligibleNodes: no node may run the actor. A [*NoEligibleNodesError] says why.
	ErrNoEligibleNodes = plan.ErrNoEligibleNodes

	// ErrExists: a spec or a singleton has the label. Choose another one, or remove the other
	// first. A program that submits at each start can treat this as success.
	ErrExists = plan.ErrExists

	// ErrNotFound: no spec or singleton has the label, or it is being removed. The status page
	// lists the labels.
	ErrNotFound = plan.ErrNotFound

	// ErrInvalid: the spec can never be placed, or the journal does not accept it. A [*FieldError]
	// names the field, if one is to blame.
	ErrInvalid = plan.ErrInvalid

	// ErrStrategy: the strategy has panicked. The text names it and the panic. Repair its code and
	// submit again; the coordinator continues.
	ErrStrategy = plan.ErrStrategy

	// ErrInProgress: the singleton is being moved or stopped. Try again when the status page no
	// longer shows it as draining.
	ErrInProgress = plan.ErrInProgress

	// ErrNoOwner: MoveSingleton was called for a singleton that runs nowhere. It starts by itself
	// as soon as its anchor allows: start a node that fits, or give it another anchor.
	ErrNoOwner = plan.ErrNoOwner

	// ErrSource: the [GenerationSource] fails or does not answer, or no term is left, so a
	// singleton cannot start. The text has the cause. The coordinator tries again.
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
