package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
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
			Path: status.Text(b.Path), Kind: b.Kind, Waiting: uint64(b.Waiting), Oldest: b.Oldest, Within: b.Within, //nolint:gosec // not negative
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
	remote.NodeID
	actorhook.ActorBacklog
}

func mostBehind(told map[remote.NodeID]backlogsTold) (all []nodeBacklog) {
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

func shownBacklogs(v View, cluster string, all []nodeBacklog) []statuspage.Backlog {
	shown := []statuspage.Backlog{}
	for _, b := range all {
		node := memberAt(v, b.Address)
		switch {
		case node != "":
		case b.NodeID == v.Self.ID():
			node = v.Self.Name
		default:
			continue // it has gone since it told this
		}
		one := statuspage.Backlog{
			Node: node, Actor: "understudy://" + cluster + "@" + b.Address + b.Path, Kind: b.Kind,
			Waiting: b.Waiting, OldestSeconds: b.Oldest.Seconds(), AskSeconds: b.Within.Seconds(), Dropped: b.Dropped,
		}
		if one.Dropped == nil {
			one.Dropped = map[string]uint64{}
		}
		one.Why = whyBehind(b.ActorBacklog, one.Node)
		shown = append(shown, one)
	}
	return shown
}

// whyBehind says which limit an actor exceeds, in sentences, or "" if it exceeds none.
func whyBehind(b actorhook.ActorBacklog, node string) string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if b.Waiting >= actorhook.BacklogLimit {
		say("%d messages wait for it, and the limit is %d.", b.Waiting, actorhook.BacklogLimit)
	}
	if limit := b.AgeLimit(); b.Oldest >= limit {
		say("Its oldest request has waited or been handled for %v of the %v that its ask has, and the limit is %v.",
			b.Oldest.Round(time.Millisecond), b.Within.Round(time.Millisecond), limit.Round(time.Millisecond))
	}
	if b.Dropping {
		say("It dropped a message %v ago; all that it dropped are %s.", b.SinceDropped.Round(time.Millisecond), inWords(b.Dropped))
	}
	if len(said) == 0 {
		return ""
	}
	return fmt.Sprintf("The actor %s on %s is behind. %s", b.Path, node, strings.Join(said, " "))
}

func inWords(dropped map[string]uint64) string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(dropped)) {
		all = append(all, fmt.Sprintf("%d by %q", dropped[reason], reason))
	}
	return strings.Join(all, ", ")
}
