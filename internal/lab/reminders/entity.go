package reminders

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
)

// An office starts the entities of one node: one for each customer.
type office struct {
	node    string
	journal persistence.Journal
	post    post
}

// A clerk is one incarnation of an entity.
type clerk struct {
	*office
	customer string
	handled  int // messages since it started
}

// entity is the factory of entities. A clerk that cannot deliver fails and resumes, so that the
// timer comes again, as the next attempt.
func (o *office) entity(e sharding.Entity) actor.Behavior[Msg] {
	c := &clerk{office: o, customer: e.ID}
	b := behaviors.EventSourced(e.PersistenceID(), o.journal, reminders(nil), follow, c.handle)
	return behaviors.Supervise(b, actor.Strategy{Decide: func(err error) actor.Directive {
		if errors.Is(err, errUndelivered) {
			return actor.Resume
		}
		return actor.Stop // the next message, or the next timer, starts it again
	}})
}

func (c *clerk) handle(ctx *actor.Context[Msg], all reminders, msg Msg) persistence.Effect[Event] {
	c.handled++
	switch msg := msg.(type) {
	case Remind:
		return all.remind(msg)
	case Cancel:
		return all.cancel(msg)
	case List:
		return persistence.Reply[Event](msg.ReplyTo, all.pending())
	case Due:
		return c.deliver(ctx, msg)
	}
	return persistence.Unhandled
}

// deliver delivers a reminder before it stores that, so at least once. The recipient tells
// repetitions by the key and the due time, which are the same in all attempts.
func (c *clerk) deliver(ctx *actor.Context[Msg], msg Due) persistence.Effect[Event] {
	timer, _ := persistence.TimerOf(ctx)
	err := c.post.deliver(ctx, delivery{
		Customer: c.customer, Key: timer.Key, Due: timer.Due, Attempt: timer.Attempt, Text: msg.Text,
		Node: c.node, Woken: c.handled == 1,
	})
	if err != nil {
		panic(err)
	}
	return persistence.Persist[Event](Delivered{Key: timer.Key})
}
