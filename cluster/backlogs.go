package cluster

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/protocol"
)

// backlogsName is the name of the actor on each node that tells other nodes which of its actors are
// behind. It is asked only while somebody looks at a status page.
const backlogsName = "backlogs"

// The messages between nodes about actors that are behind.
type (
	backlogsAsked struct {
		_       struct{} `cbor:",toarray"`
		ReplyTo actor.ActorRef[backlogsTold]
	}

	// backlogsTold has the actors of a node that are most behind, at most actorhook.MostBehind.
	backlogsTold struct {
		_      struct{} `cbor:",toarray"`
		Actors []backlogTold
	}

	// backlogTold is an actorhook.ActorBacklog.
	backlogTold struct {
		_            struct{} `cbor:",toarray"`
		Path         string
		Kind         string
		Waiting      uint64
		Oldest       time.Duration
		Within       time.Duration
		Dropped      map[string]uint64
		Dropping     bool
		SinceDropped time.Duration
	}
)

func init() {
	actor.RegisterType[backlogsAsked]("understudy.cluster.backlogs-asked")
	actor.RegisterType[backlogsTold]("understudy.cluster.backlogs-told")
}

// A backlogExchange tells other nodes which actors of this node are behind, and collects theirs.
type backlogExchange struct {
	system  *actor.System
	views   *viewPublisher
	aborted context.Context // of the node
	answers onDemand[map[ID]backlogsTold]
}

// serve starts the actor that answers other nodes.
func (e *backlogExchange) serve() {
	actor.Spawn(extension.Framework(e.system), func(_ *actor.Context[backlogsAsked], next *actor.Next[backlogsAsked]) {
		next.OnMessage = func(_ *actor.Context[backlogsAsked], asked backlogsAsked) actor.Behavior[backlogsAsked] {
			asked.ReplyTo.Tell(toldBacklogs(backlogsOf(e.system).Actors))
			return nil
		}
	}, backlogsName)
}

func backlogsOf(s *actor.System) actorhook.Backlogs {
	return actorhook.Internals(s).(actorhook.Counted).Backlogs() // actor implements it
}

func toldBacklogs(actors []actorhook.ActorBacklog) (told backlogsTold) {
	for _, b := range actors {
		told.Actors = append(told.Actors, backlogTold{
			Path: figureText(b.Path), Kind: b.Kind, Waiting: uint64(b.Waiting), Oldest: b.Oldest, Within: b.Within, //nolint:gosec // not negative
			Dropped: b.Dropped, Dropping: b.Dropping, SinceDropped: b.SinceDropped,
		})
	}
	return told
}

func (b backlogTold) heard() actorhook.ActorBacklog {
	return actorhook.ActorBacklog{
		Path: b.Path, Kind: b.Kind, Backlog: actorhook.Backlog{Waiting: int(min(b.Waiting, 1<<31-1)), Oldest: b.Oldest}, //nolint:gosec // just bounded
		Within: b.Within, Dropped: b.Dropped, Dropping: b.Dropping, SinceDropped: b.SinceDropped,
	}
}

// refresh asks the reachable members, unless the last answers are new enough.
func (e *backlogExchange) refresh(ctx context.Context) {
	e.answers.refresh(ctx, func() func(map[ID]backlogsTold) map[ID]backlogsTold {
		v, _, _ := e.views.read()
		told := askMembers(ctx, e.aborted, e.system, v, memberQuestion[backlogsAsked, backlogsTold]{
			protocol.Backlogs, backlogsName, func(replyTo actor.ActorRef[backlogsTold]) backlogsAsked { return backlogsAsked{ReplyTo: replyTo} },
		})
		return func(map[ID]backlogsTold) map[ID]backlogsTold { return told }
	})
}

// A nodeBacklog is what waits for an actor of a member.
type nodeBacklog struct {
	ID
	actorhook.ActorBacklog
}

// mostBehind returns the actors of the cluster that are most behind, from own, those of this node,
// and from what other members have told at the last refresh.
func (e *backlogExchange) mostBehind(self ID, own []actorhook.ActorBacklog) (all []nodeBacklog) {
	for _, b := range own {
		all = append(all, nodeBacklog{self, b})
	}
	for id, told := range e.answers.read() {
		for _, b := range told.Actors {
			all = append(all, nodeBacklog{id, b.heard()})
		}
	}
	slices.SortFunc(all, func(a, b nodeBacklog) int {
		return cmp.Or(cmp.Compare(b.Excess(), a.Excess()), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Path, b.Path))
	})
	return all[:min(len(all), actorhook.MostBehind)]
}
