package placement

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/singleton"
)

// A Coordinator is the door of a node to the coordinator, wherever that runs: see [Start].
// Its methods may be called from any goroutine. They wait for the answer until their
// context ends; without an answer they fail with [ErrNotLeader], and what was asked for may
// have been done or not. With a context that has ended before they ask for nothing.
//
// When the coordinator moves to another node meanwhile, what was on its way waits for the
// next one. What the former one has heard and not answered is asked again, if that is the
// same as asking once: questions, and Remove. Who submits, or starts, moves or stops a
// singleton, looks after such an error what has come of it, or does it again.
type Coordinator struct {
	node *cluster.Node
	cfg  Config
	ref  actor.ActorRef[command]
}

// singletonName is the name of the coordinator in its own cluster.
const singletonName = "placement-coordinator"

// started says that placement runs on a system.
type started struct{}

// Start makes a node take part: it may run what is placed, and the coordinator, if it is
// elected. Do so on all nodes that are to, with the same settings; on a node where it was
// not called nothing is placed. It runs until the node ends: [cluster.Node.Leave] first
// moves what runs on the node to others.
//
// Start fails when the settings make no sense, with a [*FieldError], and when it was called for the node before.
func Start(n *cluster.Node, cfg Config) (*Coordinator, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("placement: %w", err)
	}
	can, err := factoriesOf(cfg.Factories)
	if err != nil {
		return nil, fmt.Errorf("placement: %w", err)
	}
	first := false
	extension.Ensure(n.System, func() started { first = true; return started{} })
	if !first {
		return nil, errors.New("placement: Start has been called for this node before; keep the Coordinator that it returned")
	}
	c := &Coordinator{node: n, cfg: cfg}
	startAgent(n, can)
	c.ref = actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[command] { return coordinatorOn(n, cfg) },
		singleton.OnElected("placement/"+cfg.Election.Name, cfg.Election.elector())), singletonName)
	c.greet()
	n.SetPhaseTimeout(actor.ServiceRequestsDone, cfg.DrainTimeout)
	n.OnLeave("placement", c.drain)
	extension.Set(n.System, c)
	return c, nil
}

// greet tells the coordinator that there is an agent here, now that there is. It asks all
// members, but had no answer before.
func (c *Coordinator) greet() {
	self := c.node.View().Self
	c.ref.Tell(word{Said: fromAgent{Node: self.Name, Incarnation: self.Incarnation}})
}

// Of returns what [Start] has returned for the node of a system, from which an actor gets
// at it; false before that.
func Of(s *actor.System) (*Coordinator, bool) { return extension.Get[*Coordinator](s) }

// drain has everything moved away that runs on this node.
func (c *Coordinator) drain(ctx context.Context) error {
	self := c.node.View().Self
	_, err := c.ask(ctx, request{Op: opDrain, Label: self.Name, Incarnation: self.Incarnation})
	if errors.Is(err, ErrNotLeader) && len(c.node.View().Members) < 2 {
		return nil // there is nobody to move anything to
	}
	if ctx.Err() != nil {
		return fmt.Errorf("placement: what runs here has not all been moved: %w", context.Cause(ctx))
	}
	return err
}

// Leader returns the name of the node that runs the coordinator or is to, as far as this
// node knows.
func (c *Coordinator) Leader() (name string, ok bool) {
	status, _ := singleton.StatusOf(c.node.System, singletonName)
	for _, m := range c.node.View().Members {
		if status.Host != "" && m.Address == status.Host {
			return m.Name, true
		}
	}
	return "", false
}

// ask has the coordinator do something, wherever it is.
func (c *Coordinator) ask(ctx context.Context, r request) (answer, error) {
	if _, elected := c.Leader(); !elected && !c.electable() {
		return answer{}, &NotLeaderError{}
	}
	a, err := c.askAgain(ctx, r)
	if err != nil {
		leader, _ := c.Leader()
		return answer{}, &NotLeaderError{Leader: leader, Cause: err}
	}
	return a, extension.UnpackError(nil, a.Failure)
}

// electable reports whether the election admits one of the members that are up.
func (c *Coordinator) electable() bool {
	var v View
	for _, m := range c.node.View().Members {
		v.Nodes = append(v.Nodes, asNode(m, true))
	}
	v.sort()
	_, ok := c.cfg.Election.leader(v)
	return ok
}

// besides is what a message to another node may have besides a spec, in bytes.
const besides = 16 << 10

// fits returns an error when a spec is larger than what nodes can tell each other.
func (c *Coordinator) fits(label string, spec any) error {
	limit := extension.MaxMessage(c.node.System)
	data, err := codec.Marshal(spec)
	if err == nil && limit > 0 && len(data)+besides > limit {
		err = fmt.Errorf("%q has %d bytes with its state, and messages between nodes may have %d; keep the state elsewhere and name it in the spec", label, len(data), limit)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// Submit has an actor run from now on, on a node that its constraints allow and the
// strategy prefers. It returns when that has been decided and written to the journal,
// which is before the actor runs. It fails with [ErrInvalid], also when the journal does not
// take a record of that size, [ErrExists], [ErrNoEligibleNodes] or [ErrStrategy]; then nothing
// is kept.
//
// An actor that fails, cannot be started or stops by itself is started again, after a
// delay, where it fits best then.
func (c *Coordinator) Submit(ctx context.Context, s Spec) (Decision, error) {
	if err := s.validate(); err != nil {
		return Decision{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := c.fits(s.Label, s); err != nil {
		return Decision{}, err
	}
	a, err := c.ask(ctx, request{Op: opSubmit, Spec: &s})
	if err != nil || a.Decision == nil {
		return Decision{}, err
	}
	return *a.Decision, nil
}

// Remove stops an actor and forgets its spec, and returns when the actor has terminated. It
// fails with [ErrNotFound].
func (c *Coordinator) Remove(ctx context.Context, label string) error {
	_, err := c.ask(ctx, request{Op: opRemove, Label: label})
	return err
}

// Specs returns how all specs are doing, by label. When they are many it asks more than
// once, and what has changed meanwhile shows in part.
func (c *Coordinator) Specs(ctx context.Context) ([]Status, error) {
	var all []Status
	for {
		a, err := c.ask(ctx, request{Op: opSpecs, Label: after(all)})
		if err != nil {
			return nil, err
		}
		all = append(all, a.Statuses...)
		if !a.More {
			return all, nil
		}
	}
}

// View returns the cluster as the coordinator sees it. When more runs in it than can be told
// in one message it asks more than once, and what has changed meanwhile shows in part.
func (c *Coordinator) View(ctx context.Context) (View, error) {
	var all View
	var node, after string
	for {
		a, err := c.ask(ctx, request{Op: opView, Label: node, After: after})
		if err != nil || a.View == nil {
			return View{}, err
		}
		all = all.with(*a.View)
		if !a.More {
			return all, nil
		}
		node, after = a.View.end() // not of them all, which may leave out what has changed meanwhile
	}
}

// Explain says why an actor is where it is, or nowhere. It fails with [ErrNotFound].
func (c *Coordinator) Explain(ctx context.Context, label string) (Explanation, error) {
	a, err := c.ask(ctx, request{Op: opExplain, Label: label})
	if err != nil || a.Explanation == nil {
		return Explanation{}, err
	}
	return *a.Explanation, nil
}

// StartSingleton has a singleton run at its anchor, with a new generation: of a higher term
// when it begins to run on a node, of the next sequence number when it runs there already.
// One that runs elsewhere is moved, like by [Coordinator.MoveSingleton]. It returns when
// that has been granted, which is before the instance runs. It fails with [ErrInvalid],
// [ErrExists] if a spec has the label, [ErrNoEligibleNodes], [ErrInProgress] and
// [ErrSource]; then nothing has begun.
func (c *Coordinator) StartSingleton(ctx context.Context, s SingletonSpec) (Ownership, error) {
	if err := s.validate(); err != nil {
		return Ownership{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := c.fits(s.Label, s); err != nil {
		return Ownership{}, err
	}
	return c.singleton(ctx, request{Op: opStartSingleton, Singleton: &s})
}

// GetSingleton returns where a singleton is. It fails with [ErrNotFound], and with
// [ErrSource] while nobody knows what singletons there are.
func (c *Coordinator) GetSingleton(ctx context.Context, label string) (Ownership, error) {
	return c.singleton(ctx, request{Op: opGetSingleton, Label: label})
}

// MoveSingleton has a singleton run where its anchor is now, if that has changed. It
// returns when a new term has been granted, and the instance was told to stop; the next one
// starts when that has terminated. It fails with [ErrNotFound], [ErrInProgress],
// [ErrNoOwner], [ErrNoEligibleNodes] and [ErrSource].
func (c *Coordinator) MoveSingleton(ctx context.Context, label string) (Ownership, error) {
	return c.singleton(ctx, request{Op: opMoveSingleton, Label: label})
}

// StopSingleton ends a singleton for good, and returns when its instance has terminated. It
// fails with [ErrNotFound], [ErrInProgress] and [ErrSource].
func (c *Coordinator) StopSingleton(ctx context.Context, label string) error {
	_, err := c.ask(ctx, request{Op: opStopSingleton, Label: label})
	return err
}

func (c *Coordinator) singleton(ctx context.Context, r request) (Ownership, error) {
	a, err := c.ask(ctx, r)
	if err != nil || a.Ownership == nil {
		return Ownership{}, err
	}
	return *a.Ownership, nil
}
