package cluster

import (
	"cmp"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/protocol"
)

// The messages between nodes about actors that are behind.
type (
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
	actor.RegisterType[memberAsked[backlogsTold]]("understudy.cluster.backlogs-asked")
	actor.RegisterType[backlogsTold]("understudy.cluster.backlogs-told")
}

func backlogExchange(n *Node) *memberExchange[backlogsTold] {
	return &memberExchange[backlogsTold]{node: n, feature: protocol.Backlogs, name: "backlogs", own: func() backlogsTold {
		return toldBacklogs(backlogsOf(n.System).Actors)
	}}
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

type nodeBacklog struct {
	ID
	actorhook.ActorBacklog
}

func mostBehind(told map[ID]backlogsTold) (all []nodeBacklog) {
	for id, t := range told {
		for _, b := range t.Actors {
			all = append(all, nodeBacklog{id, b.heard()})
		}
	}
	slices.SortFunc(all, func(a, b nodeBacklog) int {
		return cmp.Or(cmp.Compare(b.Excess(), a.Excess()), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Path, b.Path))
	})
	return all[:min(len(all), actorhook.MostBehind)]
}
