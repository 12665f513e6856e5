package cluster

import (
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
		clients := map[actor.ActorRef[contactNews]]time.Time{} // when they asked
		subscribe(ctx, n.views, func(v View) actor.Behavior[contactAsked] {
			for client, asked := range clients {
				if time.Since(asked) > contactMemory {
					delete(clients, client)
					continue
				}
				client.Tell(v.answer(contactAsked{}))
			}
			return nil
		})
		next.OnMessage = func(_ *actor.Context[contactAsked], asked contactAsked) actor.Behavior[contactAsked] {
			if len(clients) < maxMembers {
				clients[asked.Push] = time.Now()
			}
			asked.ReplyTo.Tell(n.View().answer(asked))
			return nil
		}
	}, contactName)
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
