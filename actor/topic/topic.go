package topic

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/internal/naming"
)

// ErrNoSubscribers is why a message that nobody wants becomes a dead letter.
var ErrNoSubscribers = errors.New("topic: nobody has subscribed")

// ErrOutside is why a message becomes a dead letter that was published on a client of a
// cluster: a client is no node, so its topics are not those of the cluster.
var ErrOutside = errors.New("topic: not published")

func init() {
	actor.RegisterError("understudy/topic.no-subscribers", ErrNoSubscribers)
	actor.RegisterError("understudy/topic.outside", ErrOutside)
}

// A Topic is what messages of type T are published on. Make one by [New]; equal ones are
// the same topic, on all nodes.
type Topic[T any] struct{ key receptionist.ServiceKey[T] }

// New returns the topic of that name. It panics when the name cannot be carried to other nodes:
// it must have 1 to 255 bytes, be UTF-8, and have no control characters.
func New[T any](name string) Topic[T] {
	if err := naming.Check(name); err != nil {
		panic(fmt.Sprintf("topic: the name %q of a topic %v", name, err))
	}
	return Topic[T]{receptionist.NewKey[T](prefix + name)}
}

// prefix keeps topics apart from the services of users, in the receptionist.
const prefix = "topic:"

// Name returns the name of the topic.
func (t Topic[T]) Name() string { return t.key.Name()[len(prefix):] }

// Publish tells msg to all who have subscribed. It does not wait for other nodes. With many
// subscribers on this node, it takes the time of as many Tells. It panics when the topic is
// used with another type of messages on this node. It does not wait in the mailbox of a subscriber,
// see [actor.Mailbox.Block]. On a client of a cluster msg is a dead letter with [ErrOutside].
func (t Topic[T]) Publish(s *actor.System, msg T) {
	if why := receptionist.Outside(s); why != nil {
		extension.DeadLetter(s, "topic "+t.Name(), msg, fmt.Errorf("%w: %w; have an actor of the cluster publish", ErrOutside, why))
		return
	}
	others := t.others(s)
	subscribers := boardOf(officeOf(s), t)
	if len(subscribers)+len(others) > 1 {
		extension.NoteBroadcast(s, msg)
	}
	told := tellAll(subscribers, msg)
	for _, i := range others {
		i.Ref.Tell(msg)
	}
	if told+len(others) == 0 {
		extension.DeadLetter(s, "topic "+t.Name(), msg, ErrNoSubscribers)
	}
}

// Subscribe tells ref what is published from now on, until its actor ends or it
// unsubscribes. Subscribing twice is subscribing once; but each [actor.Adapt] makes another
// ref, so an actor that subscribes one whenever it starts should take it back when it is
// restarted, by [actor.Context.Defer].
//
// It panics when the topic is used with another type of messages on this node, when ref is
// nobody's or that of an actor on another node: subscribe it there; and on a client of a
// cluster, which is no node.
func (t Topic[T]) Subscribe(s *actor.System, ref actor.ActorRef[T]) {
	if why := receptionist.Outside(s); why != nil {
		panic(fmt.Sprintf("topic: cannot subscribe %q to %q: %v; have an actor of the cluster subscribe, and tell it on", ref.Path(), t.Name(), why))
	}
	if !extension.Owns(s, ref) {
		panic(fmt.Sprintf("topic: cannot subscribe %q to %q: it is no actor of this node; subscribe it on its own", ref.Path(), t.Name()))
	}
	t.others(s) // panics on another type
	o := officeOf(s)
	b, added := subscribe(o, t, ref)
	if !added {
		return
	}
	o.desk.Tell(b)
	b.await(ref, extension.AfterEnd(s, ref, func() { t.Unsubscribe(s, ref) }))
}

// Unsubscribe ends a subscription: what is published on this node after it has returned
// does not reach ref. When there is none, nothing happens.
func (t Topic[T]) Unsubscribe(s *actor.System, ref actor.ActorRef[T]) {
	o := officeOf(s)
	if b, cancel, removed := unsubscribe(o, t, ref); removed {
		if cancel != nil {
			cancel()
		}
		o.desk.Tell(b)
	}
}

// Stats is what a node knows of a topic.
type Stats struct {
	Subscribers int // on this node
	Nodes       int // those that have subscribers, this one included
}

// Stats returns how many subscribers there are here, and on how many nodes there are some.
func (t Topic[T]) Stats(s *actor.System) Stats {
	st := Stats{Nodes: len(t.others(s)), Subscribers: len(boardOf(officeOf(s), t))}
	if st.Subscribers > 0 {
		st.Nodes++
	}
	return st
}

// others returns the inboxes of the topic on other nodes.
func (t Topic[T]) others(s *actor.System) (others []receptionist.Instance[T]) {
	for _, i := range receptionist.Find(s, t.key).Instances {
		if !i.Local {
			others = append(others, i)
		}
	}
	return others
}
