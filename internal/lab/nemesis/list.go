package main

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

// listType is the sharded type whose entities are lists of entries.
const listType = "list"

// A Visit asks a list to append an entry or, if that is zero, only for its content. It is executed
// at most once.
type Visit struct {
	Entry   Entry
	ReplyTo actor.ActorRef[Content]
}

// Content is the answer to a Visit.
type Content struct {
	Sum        Sum                  // of the list after the visit
	Generation singleton.Generation // of the shard that has answered
}

// Visited is the event of every visit, even of one that appends nothing. Its place in the journal
// proves that no other incarnation has written since the state was read.
type Visited struct{ Entry Entry }

func init() {
	actor.RegisterType[Visit]("nemesis.visit")
	actor.RegisterType[Content]("nemesis.content")
	actor.RegisterType[Visited]("nemesis.visited")
}

func onVisited(s Sum, v Visited) Sum {
	if v.Entry == (Entry{}) {
		return s
	}
	return s.add(v.Entry)
}

func onVisit(e sharding.Entity, s Sum, msg Visit) persistence.Effect[Visited] {
	after := Content{Sum: onVisited(s, Visited{msg.Entry}), Generation: e.Generation}
	return persistence.ThenReply(persistence.Persist(Visited{msg.Entry}), msg.ReplyTo, after)
}

// visit handles visits; a test replaces it with a wrong handler.
var visit = onVisit

// storeOfLists returns the journal of the lists; a test replaces it with a wrong one.
var storeOfLists = func(j persistence.Journal) persistence.Journal { return j }

// listsRest is how long a list must be idle to end: so short that lists end and start all the time.
const listsRest = 4 * time.Second

// startLists lets a node host lists.
func startLists(node *cluster.Node, journal persistence.Journal) (*sharding.Region[Visit], error) {
	store := storeOfLists(journal)
	return sharding.Start(node, listType, func(e sharding.Entity) actor.Behavior[Visit] {
		return behaviors.EventSourced(e.PersistenceID(), store, Sum{}, onVisited,
			func(_ *actor.Context[Visit], s Sum, msg Visit) persistence.Effect[Visited] { return visit(e, s, msg) },
			persistence.Options[Visit, Visited, Sum]{SnapshotEvery: 100})
	}, sharding.PassivateAfter(listsRest))
}
