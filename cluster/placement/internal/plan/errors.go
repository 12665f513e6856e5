package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
)

var (
	// ErrNotLeader is returned when no coordinator could be asked: no node is elected, or the
	// elected one does not answer. A [*NotLeaderError] names it.
	ErrNotLeader = errors.New("placement: no coordinator here")

	// ErrNoEligibleNodes is returned when no node may run an actor. A
	// [*NoEligibleNodesError] says why.
	ErrNoEligibleNodes = errors.New("placement: no eligible nodes")

	// ErrExists is returned when the label is in use.
	ErrExists = errors.New("placement: label exists already")

	// ErrNotFound is returned when no spec or singleton has the label.
	ErrNotFound = errors.New("placement: no such label")

	// ErrInvalid is returned for a spec that can never be placed, or that the journal does not
	// accept. A [*FieldError] names the field, if one is to blame.
	ErrInvalid = errors.New("placement: invalid spec")

	// ErrStrategy is returned when the strategy panics.
	ErrStrategy = errors.New("placement: strategy failed")

	// ErrInProgress is returned while a singleton is being moved or stopped.
	ErrInProgress = errors.New("placement: hand-over in progress")

	// ErrNoOwner is returned by MoveSingleton for a singleton that runs nowhere. It starts by
	// itself as soon as its anchor allows.
	ErrNoOwner = errors.New("placement: singleton has no owner")

	// ErrSource is returned when the source of generations fails or does not answer.
	ErrSource = errors.New("placement: generation source failed")
)

// A NotLeaderError names the node that leads, as far as is known. It matches [ErrNotLeader].
type NotLeaderError struct {
	Leader string // the name of the node; "" if none is elected
	Cause  error  // why it could not be asked
}

// Error says what to do.
func (e *NotLeaderError) Error() string {
	if e.Leader == "" {
		return fmt.Sprintf("%v: no node is elected; start placement on one that the election admits", ErrNotLeader)
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

// A FieldError names a field of a spec, or of the Config of placement.Start, whose value is wrong.
// For a spec it is wrapped together with [ErrInvalid].
type FieldError struct {
	Field   string // as in Go: "Config.Journal", "Spec.Constraints.ColocateWith"
	Problem string // what is wrong, and what to do

	cause error // may be nil; not sent to other nodes
}

// Error returns the problem.
func (e *FieldError) Error() string { return e.Problem }

// Unwrap returns the error of encoding the state of a spec; nil for other fields.
func (e *FieldError) Unwrap() error { return e.cause }

// BadField returns a [*FieldError] whose problem is formatted as by [fmt.Sprintf].
func BadField(field, problem string, args ...any) error {
	return &FieldError{Field: field, Problem: fmt.Sprintf(problem, args...)}
}

// A NoEligibleNodesError says how many nodes each filter has removed. It matches
// [ErrNoEligibleNodes].
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
