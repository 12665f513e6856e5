package cron

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/journaled"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

// ErrNoEntry: the [Schedule] does not have the entry that a method was called for. List them with
// [Schedule.Entries] or "understudy schedules".
var ErrNoEntry = errors.New("there is no such entry")

// A Schedule is a schedule as one node knows it. Its methods may be called from any goroutine. They
// ask the host of the schedule, and block until it has stored the change and answered; while there
// is no host, until the next one does. When ctx ends they return an error that wraps the error of
// [actor.Ask]; a change may take place all the same. A handler of an actor must not call them,
// because they would block it.
type Schedule struct {
	cfg     Config
	system  *actor.System
	node    string
	process uint64 // tells the processes apart that have run the node
	ref     actor.ActorRef[command]
	figures *figures
}

// A Host is where a schedule is started: a *cluster.Node, or, without a cluster, an *actor.System.
type Host interface {
	actor.Spawner
	Name() string
}

// Start starts a schedule: one instance of it runs in the whole cluster. Call it on each node that
// may host the schedule, with the same settings. The schedule runs until s stops.
//
// It returns an error if a setting makes no sense, if s has started a schedule of that name, and
// one that wraps persistence.ErrNoJournal if s has no journal.
func Start(s Host, cfg Config) (*Schedule, error) {
	if s == nil {
		return nil, errors.New("cron: Start got nil instead of a system or a node")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("cron: %w", err)
	}
	c := &Schedule{cfg: cfg, figures: newFigures(), process: rand.Uint64()} //nolint:gosec // it is no secret
	if c.system, c.node, err = hostOf(s); err != nil {
		return nil, err
	}
	if journaled.JournalOf(c.system) == nil {
		return nil, fmt.Errorf("cron: %w", persistence.ErrNoJournal)
	}
	if !registerOf(c.system).add(c) {
		return nil, fmt.Errorf("cron: the schedule %q has been started on this node before", cfg.Name)
	}
	c.ref = actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[command] { return keeperOf(c) }, cfg.options()...), "cron-"+cfg.Name)
	return c, nil
}

// options returns those of the singleton.
func (c Config) options() []singleton.Option {
	return append(slices.Clip(c.Options), singleton.AtLeastOnce(inFlight), singleton.StopMessage(stopSoon{}))
}

// inFlight is how many requests of a node may be on their way.
const inFlight = 16

// Set adds an entry, or changes it if there is one with its name. Runs that are going on are not
// interrupted.
func (c *Schedule) Set(ctx context.Context, e Entry) error {
	if err := c.cfg.check(e); err != nil {
		return fmt.Errorf("cron: %w", err)
	}
	_, err := c.ask(ctx, request{Op: opSet, Entry: &e})
	return err
}

// Remove removes an entry, and its runs that wait. A run that is going on is not interrupted. The
// entry comes back when the program declares it differently than before.
func (c *Schedule) Remove(ctx context.Context, name string) error {
	_, err := c.ask(ctx, request{Op: opRemove, Name: name})
	return err
}

// Pause makes an entry have no runs until [Schedule.Resume]. Runs that are due meanwhile have not
// been missed. A run that is going on is not interrupted.
func (c *Schedule) Pause(ctx context.Context, name string) error {
	_, err := c.ask(ctx, request{Op: opPause, Name: name})
	return err
}

// Rewind lets an entry start from now: times that are yet to come count as not dealt with. It is
// for entries whose times a clock that was ahead has used up, see Problem of [Status]. Set and
// Resume do the same for them.
func (c *Schedule) Rewind(ctx context.Context, name string) error {
	_, err := c.ask(ctx, request{Op: opRewind, Name: name})
	return err
}

// Resume is the opposite of [Schedule.Pause].
func (c *Schedule) Resume(ctx context.Context, name string) error {
	_, err := c.ask(ctx, request{Op: opResume, Name: name})
	return err
}

// Trigger starts a run of an entry now, also if it is paused, and returns the time at which that
// run counts as due. The runs that the entry has by itself take place as well. If another run of
// the entry is going on, its policy for overlap decides: with [SkipRun], Trigger returns an error.
func (c *Schedule) Trigger(ctx context.Context, name string) (due time.Time, err error) {
	due = time.Now().UTC().Round(0)
	_, err = c.ask(ctx, request{Op: opTrigger, Name: name, At: due})
	return due, err
}

// Entries returns all entries, by name, without their histories.
func (c *Schedule) Entries(ctx context.Context) ([]Status, error) {
	var all []Status
	for after := ""; ; {
		a, err := c.ask(ctx, request{Op: opList, Name: after})
		if err != nil {
			return nil, err
		}
		all = append(all, a.Statuses...)
		if !a.More {
			return all, nil
		}
		after = all[len(all)-1].Entry.Name
	}
}

// Entry returns an entry with its history.
func (c *Schedule) Entry(ctx context.Context, name string) (Status, error) {
	a, err := c.ask(ctx, request{Op: opGet, Name: name})
	if err != nil {
		return Status{}, err
	}
	return a.Statuses[0], nil
}

func (c *Schedule) ask(ctx context.Context, r request) (answer, error) {
	if r.Name != "" && naming.Check(r.Name) != nil {
		return answer{}, fmt.Errorf("cron: entry %q: %w", r.Name, ErrNoEntry)
	}
	a, err := actor.AskResult(ctx, c.ref, func(to actor.ActorRef[actor.Result[answer]]) command {
		r.ReplyTo = to
		return r
	})
	if err != nil {
		return answer{}, fmt.Errorf("cron: schedule %q: %w", c.cfg.Name, err)
	}
	return a, nil
}

// hostOf returns the system of a host, and its name, which tells nodes of a cluster apart.
func hostOf(s Host) (*actor.System, string, error) {
	switch s := s.(type) {
	case *cluster.Node:
		return s.System, s.View().Self.Name, nil
	case *actor.System:
		return s, s.Name(), nil
	}
	return nil, "", fmt.Errorf("cron: Start takes a *cluster.Node or an *actor.System, not a %T", s)
}
