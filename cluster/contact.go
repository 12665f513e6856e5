package cluster

import (
	"fmt"
	"hash/fnv"
	"maps"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/cluster/membership"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

// contactName is the name of the actor of each node that clients ask.
const contactName = "contact"

// What clients ask, and nodes answer.
type (
	// contactAsked asks a node what it knows of its cluster, and who has managers for some
	// singletons. Known is the version that the client knows of what From has told it, and
	// Managers stands for the managers. For some seconds Push is told what changes.
	contactAsked struct {
		_          struct{} `cbor:",toarray"`
		From       ID
		Known      uint64
		Singletons []string
		Managers   uint64
		ReplyTo    actor.ActorRef[contactNews]
		Push       actor.ActorRef[contactNews]
	}

	contactNews struct {
		_         struct{} `cbor:",toarray"`
		From      ID
		Member    bool // From is one, and can tell
		Version   uint64
		Same      bool // as what the client knows: the rest is empty
		Converged bool
		Members   []contactMember // as candidates
		Managers  []contactManagers
	}

	contactMember struct {
		_             struct{} `cbor:",toarray"`
		Member        Member
		UnreachableBy []ID
	}

	// contactManagers says which members have a manager for a singleton.
	contactManagers struct {
		_         struct{} `cbor:",toarray"`
		Singleton string
		At        []ID
	}
)

func init() {
	actor.RegisterType[contactAsked]("understudy.cluster.contact-asked")
	actor.RegisterType[contactNews]("understudy.cluster.contact-news")
}

// contactMemory is how long a client is told of changes after it has asked.
const contactMemory = 5 * time.Second

// serveClients starts the actor that answers clients.
func (n *Node) serveClients() {
	actor.Spawn(extension.Framework(n.System), func(ctx *actor.Context[contactAsked], next *actor.Next[contactAsked]) {
		clients := subscribers{}
		subscribe(ctx, n.views, func(v View) actor.Behavior[contactAsked] {
			clients.forget(time.Now())
			for client, asked := range clients {
				client.Tell(answerTo(v, contactAsked{}, n.managersOf(asked.singletons)))
			}
			return nil
		})
		next.OnMessage = func(ctx *actor.Context[contactAsked], asked contactAsked) actor.Behavior[contactAsked] {
			if clients.hear(ctx, asked) {
				asked.ReplyTo.Tell(answerTo(n.View(), asked, n.managersOf(asked.Singletons)))
			}
			return nil
		}
	}, contactName)
}

// managersOf says which members have managers for singletons, as far as this node knows.
func (n *Node) managersOf(singletons []string) []contactManagers {
	var all []contactManagers
	for _, name := range singletons {
		managers := contactManagers{Singleton: name}
		for _, id := range singletonhook.ManagersOf(n.System, name) {
			managers.At = append(managers.At, ID{Address: id.Address, Incarnation: id.Incarnation})
		}
		all = append(all, managers)
	}
	return all
}

// sumOf stands for managers in comparisons.
func sumOf(all []contactManagers) uint64 {
	h := fnv.New64a()
	for _, m := range all {
		_, _ = fmt.Fprintf(h, "%q %v\n", m.Singleton, m.At) // never fails
	}
	return h.Sum64()
}

// An subscribers is the clients that are told of changes.
type subscribers map[actor.ActorRef[contactNews]]subscription

// An subscription is that of a client: when it has asked, and for which singletons.
type subscription struct {
	asked      time.Time
	singletons []string
}

// hear returns whether a message is of a client, which is remembered for a while: the zero
// message ends that.
func (a subscribers) hear(ctx *actor.Context[contactAsked], asked contactAsked) bool {
	client := asked.Push != (actor.ActorRef[contactNews]{})
	if client {
		a.add(asked.Push, subscription{time.Now(), asked.Singletons})
	} else {
		a.forget(time.Now())
	}
	if len(a) > 0 && !ctx.TimerActive("forget") {
		ctx.After("forget", contactMemory, contactAsked{})
	}
	return client
}

// add adds a client, unless there are too many.
func (a subscribers) add(client actor.ActorRef[contactNews], i subscription) {
	if _, known := a[client]; known || len(a) < membership.MaxMembers {
		a[client] = i
	}
}

// forget drops the clients that have not asked for some time.
func (a subscribers) forget(now time.Time) {
	maps.DeleteFunc(a, func(_ actor.ActorRef[contactNews], i subscription) bool { return now.Sub(i.asked) >= contactMemory })
}

// answerTo returns what a client is told.
func answerTo(v View, asked contactAsked, managers []contactManagers) contactNews {
	news := contactNews{From: v.Self.ID(), Member: v.Self.Status > 0 && v.Self.Status < Down, Version: v.Version}
	if !news.Member {
		return news
	}
	if news.Same = asked.From == news.From && asked.Known == v.Version && asked.Managers == sumOf(managers); news.Same {
		return news
	}
	news.Converged, news.Managers = v.Converged, managers
	for _, m := range membership.Candidates(v) {
		news.Members = append(news.Members, contactMember{Member: m, UnreachableBy: idsOfMembers(v.UnreachableBy(m))})
	}
	return news
}

// view is what a client makes of it.
func (news contactNews) view(version uint64, self Member) View {
	unreachable := map[ID][]ID{}
	var candidates []Member
	for _, m := range news.Members {
		candidates = append(candidates, m.Member)
		if len(m.UnreachableBy) > 0 {
			unreachable[m.Member.ID()] = m.UnreachableBy
		}
	}
	return membership.NewView(version, self, news.Converged, candidates, unreachable)
}

func idsOfMembers(members []Member) []ID {
	var ids []ID
	for _, m := range members {
		ids = append(ids, m.ID())
	}
	return ids
}
