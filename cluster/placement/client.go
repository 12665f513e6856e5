package placement

import (
	"context"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/cluster/internal/journaled"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

// A Coordinator is a node's client of the coordinator, which runs on one of the nodes; see [Start].
// Its methods may be called from any goroutine. They block until the answer arrives or their
// context ends. If the context has already ended, nothing is sent.
//
// An error without an answer also wraps the context's error. It is [ErrInProgress] if the
// coordinator has the request and waits; the text says what for, and the coordinator continues.
// Otherwise it is [ErrNotLeader], and the operation may or may not have been done.
//
// If the coordinator moves to another node meanwhile, requests in transit wait for the new
// coordinator. Requests that the old coordinator received but did not answer are repeated if they
// are idempotent: queries and Remove. After [ErrNotLeader] from Submit, StartSingleton,
// MoveSingleton or StopSingleton, find out whether it was done, or call it again.
type Coordinator struct {
	node *cluster.Node
	cfg  Config
	ref  actor.ActorRef[home.Input]
}

// singletonName is the name of the coordinator's singleton.
const singletonName = "placement-coordinator"

// started is the key of a system on which placement runs.
type started struct{}

// Start starts placement on a node. The node can then run placed actors, and the coordinator if it
// is elected. Call it on all nodes that take part, with the same settings; nothing is placed on
// other nodes. Placement runs until the node stops. [cluster.Node.Leave] first moves the node's
// actors to other nodes.
//
// Start returns a [*FieldError] if a setting is invalid, an error that wraps
// persistence.ErrNoJournal if the node has no cluster.Config.Journal, and another error if it was
// called for the node before.
func Start(n *cluster.Node, cfg Config) (*Coordinator, error) {
	if n == nil {
		return nil, errors.New("placement: Start got nil instead of a node")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("placement: %w", err)
	}
	can, err := factoriesOf(cfg.Factories)
	if err != nil {
		return nil, fmt.Errorf("placement: %w", err)
	}
	if journaled.JournalOf(n.System) == nil {
		return nil, fmt.Errorf("placement: %w", persistence.ErrNoJournal)
	}
	first := false
	extension.Ensure(n.System, func() started { first = true; return started{} })
	if !first {
		return nil, errors.New("placement: Start has been called for this node before; keep the Coordinator that it returned")
	}
	c := &Coordinator{node: n, cfg: cfg}
	hubOf(n.System).setMargin(cfg.RemovalMargin)
	shell.StartAgent(n, agents(can))
	var numbers counted
	telemetry.AddSource(n.System, numbers.families)
	c.ref = actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[home.Input] { return coordinatorOn(n, cfg, &numbers) },
		singleton.OnElected(electionName(cfg), elector(cfg.election("")))), singletonName)
	c.announce()
	n.SetPhaseTimeout(actor.ServiceRequestsDone, cfg.DrainTimeout)
	n.OnLeave("placement", c.drain)
	extension.Set(n.System, c)
	status.AddSection(n.System, c.section())
	return c, nil
}

// electionName returns the name of the election with its role. Nodes with another election name do
// not take part.
func electionName(cfg Config) string {
	if cfg.Role == "" {
		return "placement/" + cfg.Election.Name
	}
	return "placement/" + cfg.Election.Name + " of role " + cfg.Role
}

// announce tells the coordinator that this node has an agent. The coordinator asks all members for
// reports; until now it had no answer from this node.
func (c *Coordinator) announce() {
	self := c.node.View().Self
	c.ref.Tell(home.Received{Message: home.FromAgent{Node: self.Name, Incarnation: self.Incarnation}})
}

// Of returns the Coordinator that [Start] has returned for the node of a system, for use by actors.
// Before Start it returns false.
func Of(s *actor.System) (*Coordinator, bool) { return extension.Get[*Coordinator](s) }

// drain asks the coordinator to move all actors away from this node.
func (c *Coordinator) drain(ctx context.Context) error {
	self := c.node.View().Self
	_, err := c.ask(ctx, request{Op: opDrain, Label: self.Name, Incarnation: self.Incarnation})
	if errors.Is(err, ErrNotLeader) && len(c.node.View().Members) < 2 {
		return nil // there is no other node
	}
	if ctx.Err() != nil {
		return fmt.Errorf("placement: not all actors of this node have been moved: %w", context.Cause(ctx))
	}
	return err
}

// Leader returns the name of the node that runs the coordinator or is going to, as far as this node
// knows.
func (c *Coordinator) Leader() (name string, ok bool) {
	status, _ := singleton.StatusOf(c.node.System, singletonName)
	for _, m := range c.node.View().Members {
		if status.Host != "" && m.Address == status.Host {
			return m.Name, true
		}
	}
	return "", false
}

// ask sends a request to the coordinator, wherever it runs.
func (c *Coordinator) ask(ctx context.Context, r request) (answer, error) {
	if _, elected := c.Leader(); !elected && !c.electable() {
		return answer{}, &NotLeaderError{}
	}
	a, err := c.askAgain(ctx, r)
	switch {
	case errors.Is(err, ErrInProgress): // the coordinator has said why it waits
		return answer{}, err
	case err != nil:
		leader, _ := c.Leader()
		return answer{}, &NotLeaderError{Leader: leader, Cause: err}
	}
	return a, extension.UnpackError(nil, a.Failure)
}

// electable reports whether the election admits a member that is up.
func (c *Coordinator) electable() bool {
	var nodes []Node
	for _, m := range c.node.View().Members {
		nodes = append(nodes, shell.NodeOf(m, true))
	}
	_, ok := c.cfg.election("").Leader(home.NewView(nodes))
	return ok
}

// besides is how many bytes a message to another node may have besides a spec.
const besides = 16 << 10

// fits returns an error if a spec is larger than messages between nodes may be.
func (c *Coordinator) fits(label string, spec any) error {
	limit := extension.MaxMessage(c.node.System)
	data, err := codec.Marshal(spec)
	if err == nil && limit > 0 && len(data)+besides > limit {
		err = fmt.Errorf("%q has %d bytes with its state, and at most %d fit into a message between nodes; keep the state elsewhere and name it in the spec", label, len(data), limit-besides)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// Submit adds a spec. Its actor will run on a node that the constraints allow and the strategy
// prefers. Submit returns when the node has been chosen and the spec stored in the journal, before
// the actor runs. If only a member could run it that has not started placement yet, Submit waits
// for that for up to 5 s.
//
// It returns [ErrInvalid], [ErrExists], [ErrNoEligibleNodes] or [ErrStrategy]; nothing is stored
// then. [ErrInvalid] includes a record that is too large for the journal.
//
// An actor that fails, cannot be started or stops by itself is started again after a delay, on the
// node that is then best; see [Config.Retry].
func (c *Coordinator) Submit(ctx context.Context, s Spec) (Decision, error) {
	if err := s.Validate(); err != nil {
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

// Remove stops an actor and removes its spec. It returns when the actor has terminated. It returns
// [ErrNotFound] if there is no such spec.
func (c *Coordinator) Remove(ctx context.Context, label string) error {
	_, err := c.ask(ctx, request{Op: opRemove, Label: label})
	return err
}

// Specs returns the status of all specs, sorted by label. If they do not fit into one message,
// Specs sends several requests, and the result may show only some of the changes in between.
func (c *Coordinator) Specs(ctx context.Context) ([]Status, error) {
	var all []Status
	for {
		a, err := c.ask(ctx, request{Op: opSpecs, Label: lastLabel(all)})
		if err != nil {
			return nil, err
		}
		all = append(all, a.Statuses...)
		if !a.More {
			return all, nil
		}
	}
}

// View returns the cluster as the coordinator knows it. If it does not fit into one message, View
// sends several requests, and the result may show only some of the changes in between.
func (c *Coordinator) View(ctx context.Context) (View, error) {
	var all View
	var node, after string
	for {
		a, err := c.ask(ctx, request{Op: opView, Label: node, After: after})
		if err != nil || a.View == nil {
			return View{}, err
		}
		all = appendView(all, *a.View)
		if !a.More {
			return all, nil
		}
		node, after = endOfView(*a.View) // of this part: all may lack nodes that have changed meanwhile
	}
}

// Explain says why an actor is where it is, or why it runs nowhere. It returns [ErrNotFound] if
// there is no such spec.
func (c *Coordinator) Explain(ctx context.Context, label string) (Explanation, error) {
	a, err := c.ask(ctx, request{Op: opExplain, Label: label})
	if err != nil || a.Explanation == nil {
		return Explanation{}, err
	}
	return *a.Explanation, nil
}

// StartSingleton starts a singleton at its anchor, with a new generation. If it already runs on
// that node, the generation has the next sequence number; otherwise it has a higher term. If it
// runs on another node, it is moved, as by [Coordinator.MoveSingleton]. StartSingleton returns when
// the generation has been granted, which is before the instance runs. It returns [ErrInvalid],
// [ErrExists] if a spec has the label, [ErrNoEligibleNodes], [ErrInProgress] or [ErrSource];
// nothing is started then.
func (c *Coordinator) StartSingleton(ctx context.Context, s SingletonSpec) (Ownership, error) {
	if err := s.Validate(); err != nil {
		return Ownership{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := c.fits(s.Label, s); err != nil {
		return Ownership{}, err
	}
	return c.singleton(ctx, request{Op: opStartSingleton, Singleton: &s})
}

// Singleton returns where a singleton is, or [ErrNotFound].
func (c *Coordinator) Singleton(ctx context.Context, label string) (Ownership, error) {
	return c.singleton(ctx, request{Op: opSingleton, Label: label})
}

// MoveSingleton moves a singleton to the node that its anchor names now, if that node has changed.
// It claims the next term for the destination, tells the instance to stop, and returns. The new
// instance starts when the old one has terminated, or after SingletonSpec.DrainTimeout if that is
// set. It returns [ErrNotFound], [ErrInProgress], [ErrNoOwner], [ErrNoEligibleNodes] or
// [ErrSource].
func (c *Coordinator) MoveSingleton(ctx context.Context, label string) (Ownership, error) {
	return c.singleton(ctx, request{Op: opMoveSingleton, Label: label})
}

// StopSingleton removes a singleton, and returns when its instance has terminated, or after
// SingletonSpec.DrainTimeout if that is set. An instance that has not terminated by then still
// handles the messages that it has. It returns [ErrNotFound] or [ErrInProgress].
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
