package cluster

import (
	"fmt"
	"hash/fnv"
	"maps"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/singletons"
)

const contactName = "contact"

// The messages between clients and nodes.
type (
	// contactAsked asks a node for its members, and for the members that have managers of some
	// singletons. Known is the version that the client has of From's news, and Managers is the hash
	// of the managers that it knows. For contactMemory after it, the node sends changes to Push.
	contactAsked struct {
		_          struct{} `cbor:",toarray"`
		From       remote.NodeID
		Known      uint64
		Singletons []string
		Managers   uint64
		ReplyTo    actor.ActorRef[contactNews]
		Push       actor.ActorRef[contactNews]
	}

	contactNews struct {
		_         struct{} `cbor:",toarray"`
		From      remote.NodeID
		Member    bool // From is a member, and can answer
		Version   uint64
		Same      bool // the client knows it all; the fields below are empty
		Converged bool
		Members   []contactMember // in the order of election
		Managers  []contactManagers

		// Leaves says that From is about to leave, which waits for the answer; all other fields are
		// empty then.
		Leaves actor.ActorRef[bool]
	}

	contactMember struct {
		_             struct{} `cbor:",toarray"`
		Member        membership.Member
		UnreachableBy []remote.NodeID
	}

	contactManagers struct {
		_         struct{} `cbor:",toarray"`
		Singleton string
		At        []remote.NodeID
	}
)

// Carried says that the message carries none of the user, see [extension.DeadLetter].
func (contactAsked) Carried(*actor.System) (to string, msg any, carries bool) { return "", nil, false }

func (contactNews) Carried(*actor.System) (to string, msg any, carries bool) { return "", nil, false }

func init() {
	actor.RegisterType[contactAsked]("understudy.cluster.contact-asked")
	actor.RegisterType[contactNews]("understudy.cluster.contact-news")
}

// contactMemory is how long after its last request a client receives changes.
const contactMemory = 5 * time.Second

// A contact is the actor on a node that answers clients and sends them changes.
type contact struct {
	system  *actor.System
	views   *viewPublisher
	clients subscribers
}

func startContact(s *actor.System, views *viewPublisher) {
	actor.Spawn(extension.Framework(s), func(ctx *actor.Context[contactAsked], next *actor.Next[contactAsked]) {
		c := &contact{system: s, views: views, clients: subscribers{}}
		ctx.Defer(views.subscribe(s, extension.Handle(ctx, c.push)))
		next.OnMessage = c.answer
	}, contactName)
}

func (c *contact) push(v View) actor.Behavior[contactAsked] {
	c.clients.forget(time.Now())
	for client, asked := range c.clients {
		client.Tell(answerTo(v, contactAsked{}, c.managersOf(asked.singletons)))
	}
	return nil
}

func (c *contact) answer(ctx *actor.Context[contactAsked], asked contactAsked) actor.Behavior[contactAsked] {
	if c.clients.hear(ctx, asked) {
		v, _, _ := c.views.read()
		asked.ReplyTo.Tell(answerTo(v, asked, c.managersOf(asked.Singletons)))
	}
	return nil
}

func (c *contact) managersOf(names []string) []contactManagers {
	var all []contactManagers
	for _, name := range names {
		managers := contactManagers{Singleton: name}
		for _, id := range singletons.ManagersOf(c.system, name) {
			managers.At = append(managers.At, remote.NodeID{Address: id.Address, Incarnation: id.Incarnation})
		}
		all = append(all, managers)
	}
	return all
}

func sumOf(all []contactManagers) uint64 {
	h := fnv.New64a()
	for _, m := range all {
		_, _ = fmt.Fprintf(h, "%q %v\n", m.Singleton, m.At) // never fails
	}
	return h.Sum64()
}

// subscribers are the clients that receive changes, by the ref to send them to.
type subscribers map[actor.ActorRef[contactNews]]subscription

type subscription struct {
	asked      time.Time
	singletons []string
}

// hear adds or renews the subscription of the client that sent a message, and reports whether a
// client sent it. The zero message, which the node sends to itself, drops expired subscriptions.
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

func (a subscribers) add(client actor.ActorRef[contactNews], i subscription) {
	if _, known := a[client]; known || len(a) < membership.MaxMembers {
		a[client] = i
	}
}

func (a subscribers) forget(now time.Time) {
	maps.DeleteFunc(a, func(_ actor.ActorRef[contactNews], i subscription) bool { return now.Sub(i.asked) >= contactMemory })
}

func answerTo(v View, asked contactAsked, managers []contactManagers) contactNews {
	news := contactNews{From: v.Self.ID(), Member: v.Self.Status > 0 && v.Self.Status < Down, Version: v.Version}
	if !news.Member {
		return news
	}
	if news.Same = asked.From == news.From && asked.Known == v.Version && asked.Managers == sumOf(managers); news.Same {
		return news
	}
	news.Converged, news.Managers = v.Converged, managers
	for _, m := range membership.Candidates(v.in) {
		news.Members = append(news.Members, contactMember{Member: m, UnreachableBy: idsOfMembers(v.in.UnreachableBy(m.ID()))})
	}
	return news
}

func (news contactNews) view(version uint64, self membership.Member) View {
	unreachable := map[remote.NodeID][]remote.NodeID{}
	var candidates []membership.Member
	for _, m := range news.Members {
		candidates = append(candidates, m.Member)
		if len(m.UnreachableBy) > 0 {
			unreachable[m.Member.ID()] = m.UnreachableBy
		}
	}
	return viewOf(membership.NewView(version, self, news.Converged, candidates, unreachable))
}

func idsOfMembers(members []membership.Member) []remote.NodeID {
	var ids []remote.NodeID
	for _, m := range members {
		ids = append(ids, m.ID())
	}
	return ids
}
