package placement

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
)

// Errors of the methods of [Coordinator]. Compare with [errors.Is].
var (
	// ErrNotLeader: no coordinator could be asked, or it has not answered. A [*NotLeaderError] says
	// why.
	ErrNotLeader = errors.New("placement: coordinator unavailable")

	// ErrNoEligibleNodes: no node may run the actor. A [*NoEligibleNodesError] says why.
	ErrNoEligibleNodes = errors.New("placement: no eligible nodes")

	// ErrExists: a spec or a singleton has the label. Choose another one, or remove the other
	// first. A program that submits at each start can treat this as success.
	ErrExists = errors.New("placement: label exists already")

	// ErrNotFound: no spec or singleton has the label, or it is being removed. The status page
	// lists the labels.
	ErrNotFound = errors.New("placement: no such label")

	// ErrInvalid: the spec can never be placed, or the journal does not accept it. A [*FieldError]
	// names the field, if one is to blame.
	ErrInvalid = errors.New("placement: invalid spec")

	// ErrStrategy: the strategy has panicked. The text names it and the panic. Repair its code and
	// submit again; the coordinator continues.
	ErrStrategy = errors.New("placement: strategy failed")

	// ErrInProgress: the singleton is being moved or stopped, so nothing was done. Try again when
	// the status page no longer shows it as draining. If the error wraps the context's error, the
	// coordinator still works on this request. The text says what it waits for.
	ErrInProgress = errors.New("placement: in progress")

	// ErrNoOwner: MoveSingleton was called for a singleton that runs nowhere. It starts by itself
	// as soon as its anchor allows: start a node that fits, or give it another anchor.
	ErrNoOwner = errors.New("placement: singleton has no owner")

	// ErrSource: the [GenerationSource] fails or does not answer, or no term is left, so a
	// singleton cannot start. The text has the cause. The coordinator tries again.
	ErrSource = errors.New("placement: generation source failed")
)

// A NotLeaderError says why the coordinator has not answered. If no node is elected, call [Start]
// on one that has Config.Role. Otherwise wait for failover. It matches [ErrNotLeader].
type NotLeaderError struct {
	Leader string // the name of the node; "" if this node knows of none
	Cause  error  // why there is no answer; nil if no node is elected
}

// Error says what to do.
func (e *NotLeaderError) Error() string {
	switch {
	case e.Cause == nil:
		return fmt.Sprintf("%v: no node is elected; start placement on one that the election admits", ErrNotLeader)
	case e.Leader == "":
		return fmt.Sprintf("%v: it is not known yet where it runs: %v", ErrNotLeader, e.Cause)
	}
	return fmt.Sprintf("%v: it runs on %s, which has not answered: %v", ErrNotLeader, e.Leader, e.Cause)
}

// Unwrap returns [ErrNotLeader], and the cause.
func (e *NotLeaderError) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrNotLeader}
	}
	return []error{ErrNotLeader, e.Cause}
}

// A FieldError names a field of a spec or of [Config] that has an invalid value; its text says what
// to do. For a spec it is wrapped together with [ErrInvalid].
type FieldError struct {
	Field   string // as in Go: "Config.Factories", "Spec.Constraints.ColocateWith"
	Problem string // what is wrong, and what to do

	cause error `cbor:"-"` // may be nil; not sent to other nodes
}

// Error returns the problem.
func (e *FieldError) Error() string { return e.Problem }

// Unwrap returns the error of encoding the state of a spec; nil for other fields.
func (e *FieldError) Unwrap() error { return e.cause }

// badField returns a [*FieldError] whose problem is formatted as by [fmt.Sprintf].
func badField(field, problem string, args ...any) error {
	return &FieldError{Field: field, Problem: fmt.Sprintf(problem, args...)}
}

// A NoEligibleNodesError says how many nodes each constraint has removed: relax it, or start a node
// that fits. "without placement" means that a node has not called [Start].
//
// It matches [ErrNoEligibleNodes].
type NoEligibleNodesError struct {
	Label      string
	Considered int            // how many nodes there are
	Removed    map[string]int // by filter: the name of a field of [Constraints], "strategy", "not up", "unreachable", "draining" or "without placement"
}

func noEligible(label string, all []Candidate) *NoEligibleNodesError {
	e := &NoEligibleNodesError{Label: label, Considered: len(all), Removed: map[string]int{}}
	for _, c := range all {
		if c.Why != "" {
			e.Removed[c.Why]++
		}
	}
	return e
}

// Error says why no node is eligible.
func (e *NoEligibleNodesError) Error() string {
	var removed []string
	for _, filter := range slices.Sorted(maps.Keys(e.Removed)) {
		removed = append(removed, fmt.Sprintf("%s %d", filter, e.Removed[filter]))
	}
	return fmt.Sprintf("%v for %q among %d: removed by %s", ErrNoEligibleNodes, e.Label, e.Considered, strings.Join(removed, ", "))
}

// Unwrap returns [ErrNoEligibleNodes].
func (e *NoEligibleNodesError) Unwrap() error { return ErrNoEligibleNodes }

func init() {
	actor.RegisterType[*NoEligibleNodesError]("understudy/placement.no-eligible-nodes")
	actor.RegisterType[*FieldError]("understudy/placement.field")
	for name, err := range map[string]error{
		"understudy/placement.not-leader":        ErrNotLeader,
		"understudy/placement.no-eligible-nodes": ErrNoEligibleNodes,
		"understudy/placement.exists":            ErrExists,
		"understudy/placement.not-found":         ErrNotFound,
		"understudy/placement.invalid":           ErrInvalid,
		"understudy/placement.strategy":          ErrStrategy,
		"understudy/placement.in-progress":       ErrInProgress,
		"understudy/placement.no-owner":          ErrNoOwner,
		"understudy/placement.source":            ErrSource,
	} {
		actor.RegisterError(name, err)
	}
}
