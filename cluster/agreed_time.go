package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/internal/storeclock"
)

// calendarName is the name of the actor on each node that tells others its calendar time. It is
// asked only by what goes by the clocks of hosts.
const calendarName = "calendar"

const (
	calendarPatience = 500 * time.Millisecond // for the answers of other members
	calendarWrong    = 10 * time.Second       // a clock that differs by more is logged
)

// The messages between nodes about their clocks.
type (
	calendarAsked struct {
		_       struct{} `cbor:",toarray"`
		ReplyTo actor.ActorRef[calendarTold]
	}

	calendarTold struct {
		_    struct{} `cbor:",toarray"`
		Wall time.Time
	}
)

func init() {
	actor.RegisterType[calendarAsked]("understudy.cluster.calendar-asked")
	actor.RegisterType[calendarTold]("understudy.cluster.calendar-told")
}

type calendarExchange struct {
	node *Node

	mu    sync.Mutex             // guards wrong
	wrong map[remote.NodeID]bool // members whose clock is known to be wrong
}

func serveCalendar(n *Node) {
	actor.Spawn(extension.Framework(n.System), func(_ *actor.Context[calendarAsked], next *actor.Next[calendarAsked]) {
		next.OnMessage = func(_ *actor.Context[calendarAsked], asked calendarAsked) actor.Behavior[calendarAsked] {
			asked.ReplyTo.Tell(calendarTold{Wall: n.cfg.Clock.Wall().Round(0).UTC()})
			return nil
		}
	}, calendarName)
	extension.Set(n.System, storeclock.Agreed((&calendarExchange{node: n}).agreed))
}

// agreed is a [storeclock.Agreed].
func (e *calendarExchange) agreed(ctx context.Context) (time.Time, error) {
	v := e.node.View()
	members := slices.DeleteFunc(slices.Clone(v.Members), func(m Member) bool { return m.Status >= Down })
	ahead := e.collect(ctx, v, members)
	if 2*len(ahead) <= len(members) {
		return time.Time{}, fmt.Errorf("only %d of %d members have told their time", len(ahead), len(members))
	}
	by := atLeast(ahead)
	for _, m := range members {
		if told, answered := ahead[m.ID()]; answered {
			e.note(m, told-by)
		}
	}
	return e.node.cfg.Clock.Wall().Add(by), nil
}

// atLeast returns by how much the calendars of more than half are ahead at least.
func atLeast(ahead map[remote.NodeID]time.Duration) time.Duration {
	var all []time.Duration
	for _, by := range ahead {
		all = append(all, by)
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// collect returns by how much the calendars of members are ahead of the one of this node.
func (e *calendarExchange) collect(ctx context.Context, v View, members []Member) map[remote.NodeID]time.Duration {
	ctx, cancel := context.WithTimeout(ctx, calendarPatience)
	defer cancel()
	var (
		asks  sync.WaitGroup
		mu    sync.Mutex // guards ahead
		ahead = map[remote.NodeID]time.Duration{v.Self.ID(): 0}
	)
	for _, m := range members {
		if m.ID() == v.Self.ID() || !v.Reachable(m) || !peers.Have(e.node.System, m.ID(), protocol.Calendars) {
			continue
		}
		asks.Go(func() {
			by, err := e.ask(ctx, m)
			if err != nil {
				return // agreed counts those that have answered
			}
			mu.Lock()
			defer mu.Unlock()
			ahead[m.ID()] = by
		})
	}
	asks.Wait()
	return ahead
}

func (e *calendarExchange) ask(ctx context.Context, m Member) (ahead time.Duration, err error) {
	system, clock := e.node.System, e.node.cfg.Clock
	to := actor.Resolve[calendarAsked](system, "understudy://"+system.Name()+"@"+m.Address+"/system/"+calendarName)
	begun := clock.Now()
	told, err := actor.Ask(ctx, to, func(replyTo actor.ActorRef[calendarTold]) calendarAsked { return calendarAsked{ReplyTo: replyTo} })
	return told.Wall.Add(clock.Now().Sub(begun) / 2).Sub(clock.Wall().Round(0)), err
}

// note logs a clock that is wrong, once until it is right.
func (e *calendarExchange) note(m Member, by time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if by.Abs() <= calendarWrong {
		delete(e.wrong, m.ID())
		return
	}
	if e.wrong == nil || len(e.wrong) > len(e.node.View().Members) {
		e.wrong = map[remote.NodeID]bool{}
	}
	if !e.wrong[m.ID()] {
		e.wrong[m.ID()] = true
		e.node.log.Warn("the clock of a member differs from those of most", zap.String("member", m.Name), zap.Duration("ahead", by))
	}
}
