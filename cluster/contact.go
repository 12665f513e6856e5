package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// contactName is the name of the actor of each node that clients ask.
const contactName = "contact"

// What clients ask, and nodes answer.
type (
	// contactAsked asks a node what it knows of its cluster. Known is the version that the
	// client knows of what From has told it. For some seconds Push is told what changes.
	contactAsked struct {
		_       struct{} `cbor:",toarray"`
		From    ID
		Known   uint64
		ReplyTo actor.ActorRef[contactNews]
		Push    actor.ActorRef[contactNews]
	}

	contactNews struct {
		_         struct{} `cbor:",toarray"`
		From      ID
		Member    bool // From is one, and can tell
		Version   uint64
		Same      bool // as what the client knows: the rest is empty
		Converged bool
		Members   []contactMember // as candidates
	}

	contactMember struct {
		_             struct{} `cbor:",toarray"`
		Member        Member
		UnreachableBy []ID
		Offers        []string // of singletons, see singleton.OfferName
	}
)

func init() {
	actor.RegisterType[contactAsked]("understudy.cluster.contact-asked")
	actor.RegisterType[contactNews]("understudy.cluster.contact-news")
}

// contactMemory is how long a client is told of changes after it has asked.
const contactMemory = 5 * time.Second

// attendClients starts the actor that answers clients.
func (n *Node) attendClients() {
	actor.Spawn(n.Framework(), func(ctx *actor.Context[contactAsked], next *actor.Next[contactAsked]) {
		clients := audience{}
		subscribe(ctx, n.views, func(v View) actor.Behavior[contactAsked] {
			clients.forget(time.Now())
			for client := range clients {
				client.Tell(v.answer(contactAsked{}))
			}
			return nil
		})
		next.OnMessage = func(ctx *actor.Context[contactAsked], asked contactAsked) actor.Behavior[contactAsked] {
			if clients.hear(ctx, asked) {
				asked.ReplyTo.Tell(n.View().answer(asked))
			}
			return nil
		}
	}, contactName)
}

// An audience is the clients that are told of changes, and when they have asked.
type audience map[actor.ActorRef[contactNews]]time.Time

// hear returns whether a message is of a client, which is remembered for a while: the zero
// message ends that.
func (a audience) hear(ctx *actor.Context[contactAsked], asked contactAsked) bool {
	client := asked != contactAsked{}
	if client {
		a.add(asked.Push, time.Now())
	} else {
		a.forget(time.Now())
	}
	if len(a) > 0 && !ctx.TimerActive("forget") {
		ctx.After("forget", contactMemory, contactAsked{})
	}
	return client
}

// add adds a client, unless there are too many.
func (a audience) add(client actor.ActorRef[contactNews], now time.Time) {
	if _, known := a[client]; known || len(a) < maxMembers {
		a[client] = now
	}
}

// forget drops the clients that have not asked for some time.
func (a audience) forget(now time.Time) {
	maps.DeleteFunc(a, func(_ actor.ActorRef[contactNews], asked time.Time) bool { return now.Sub(asked) >= contactMemory })
}

// answer is what a client is told.
func (v View) answer(asked contactAsked) contactNews {
	news := contactNews{From: v.Self.ID(), Member: v.Self.Status > 0 && v.Self.Status < Down, Version: v.Version}
	if !news.Member {
		return news
	}
	if news.Same = asked.From == news.From && asked.Known == v.Version; news.Same {
		return news
	}
	news.Converged = v.Converged
	for _, m := range v.order {
		news.Members = append(news.Members, contactMember{Member: m, UnreachableBy: v.unreachable[m.ID()], Offers: v.rows[m.ID()].Offers})
	}
	return news
}

// view is what a client makes of it.
func (news contactNews) view(version uint64, self Member) View {
	v := View{Version: version, Self: self, Converged: news.Converged, unreachable: map[ID][]ID{}, rows: map[ID]row{}}
	for _, m := range news.Members {
		id := m.Member.ID()
		v.order = append(v.order, m.Member)
		v.rows[id] = row{Offers: m.Offers}
		if len(m.UnreachableBy) > 0 {
			v.unreachable[id] = m.UnreachableBy
		}
	}
	v.Members = slices.SortedFunc(slices.Values(v.order), func(a, b Member) int { return a.ID().Compare(b.ID()) })
	return v
}
