package delivery

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/understudy-go/understudy/actor"
)

// ProducerByID returns a producer that sends to many receivers, one for each id, such as the
// entities of package cluster/sharding. [Send].To says which one gets a message. receiver returns
// the ref for an id, or why no receiver can have it; the message then becomes a dead letter with
// [ErrNoReceiver]. receiver must not block.
//
//	accounts, err := sharding.Start(node, "account", func(e sharding.Entity) actor.Behavior[delivery.Link[Deposit]] {
//		return delivery.Consumer(account(e)) // a behavior of delivery.Delivery[Deposit]
//	})
//	producer := actor.Spawn(node, delivery.ProducerByID(accounts.Lookup), "deposits")
//	producer.Tell(delivery.Send[Deposit]{To: "42", Message: Deposit{Amount: 10}})
//
// Each receiver has a window of its own, and messages to it that wait do not hold up those to
// others. Messages to one receiver are handled in the order in which the producer took them. A ref
// may lead to another incarnation of the receiver at any time: what the one before has not
// confirmed is sent again.
//
// With a queue, the next producer goes on with all messages that are not confirmed. A receiver may
// then get messages again that it has confirmed; [Delivery].Number tells it so. The queue deletes a
// message when all before it are confirmed, whichever receiver they have.
//
// The options are those of [Producer], and [ForgetAfter]. [Connect] has no effect.
func ProducerByID[M any](receiver func(id string) (actor.ActorRef[Link[M]], error), opts ...Option) actor.Behavior[Command[M]] {
	if receiver == nil {
		panic("delivery: ProducerByID needs a function that returns the receivers")
	}
	return newProducer(settingsOf(opts), func(p *producer[M]) {
		p.several = true
		p.receivers = &receivers[M]{find: receiver, byName: map[string]*connection[M]{}, byID: map[uint64]*connection[M]{}}
		p.ctx.Every("sweep", p.set.forgetAfter/sweepsUntilIdle, sweepDue[M]{})
	})
}

const sweepsUntilIdle = 2

type sweepDue[M any] struct{ noPayload }

func (sweepDue[M]) command(M) {}

// bufferOfAll is a multiple of [Buffer], for all receivers together.
const bufferOfAll = 100

// nil has none.
type receivers[M any] struct {
	find    func(id string) (actor.ActorRef[Link[M]], error)
	byName  map[string]*connection[M]
	byID    map[uint64]*connection[M]
	touched []*connection[M]
	waiting int // messages in backlogs
	unsure  int // messages that are ready, and neither confirmed nor refused
}

func (r *receivers[M]) count() int {
	if r == nil {
		return 0
	}
	return len(r.byName)
}

func (r *receivers[M]) kept() int {
	if r == nil {
		return 0
	}
	return r.unsure
}

func (r *receivers[M]) all() []*connection[M] {
	if r == nil {
		return nil
	}
	return slices.Collect(maps.Values(r.byName))
}

func (r *receivers[M]) withID(id uint64) *connection[M] {
	if r == nil {
		return nil
	}
	return r.byID[id]
}

func (r *receivers[M]) idOf(msg Send[M]) string {
	if r == nil {
		return ""
	}
	return msg.To
}

func (r *receivers[M]) connection(p *producer[M], to string) (*connection[M], error) {
	if l := r.byName[to]; l != nil {
		return l, nil
	}
	consumer, err := r.find(to)
	if err == nil && consumer == (actor.ActorRef[Link[M]]{}) {
		err = actor.ErrNoRef
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoReceiver, err)
	}
	l := &connection[M]{receiver: true, stream: p.newStream(), consumer: consumer, id: rand.Uint64()}
	l.connect()
	r.byName[to], r.byID[l.id] = l, l
	return l, nil
}

// Messages that are not stored are not counted.
func (r *receivers[M]) admit(p *producer[M], e *entry[M]) error {
	if r == nil {
		return nil
	}
	l, err := r.connection(p, e.to)
	if err != nil {
		return err
	}
	if most := p.set.buffer; l.backlog.Len() >= most || r.waiting >= bufferOfAll*most {
		return ErrBufferFull
	}
	return nil
}

func (r *receivers[M]) ready(p *producer[M], e *entry[M]) error {
	r.unsure++
	l, err := r.connection(p, e.to)
	if err != nil {
		return err
	}
	r.waiting++
	l.backlog.Push(e)
	r.touch(l)
	return nil
}

func (r *receivers[M]) touch(l *connection[M]) {
	if r != nil && !l.touched {
		l.touched, l.idle = true, 0
		r.touched = append(r.touched, l)
	}
}

func (r *receivers[M]) pump(p *producer[M]) {
	for len(r.touched) > 0 {
		all := r.touched
		r.touched = nil
		for _, l := range all {
			l.touched = false
			for l.backlog.Len() > 0 && l.room() {
				r.waiting--
				p.assign(l, l.backlog.Pop())
			}
			p.sendFrom(l)
		}
	}
}

func (r *receivers[M]) settled() {
	if r != nil {
		r.unsure--
	}
}

func (r *receivers[M]) sweep() {
	for to, l := range r.byName {
		if l.Len() > 0 || l.backlog.Len() > 0 {
			l.idle = 0
			continue
		}
		if l.idle++; l.idle > sweepsUntilIdle {
			delete(r.byName, to)
			delete(r.byID, l.id)
		}
	}
}

// With flowOnly, messages that were sent are left out.
func (r *receivers[M]) unfinished(flowOnly bool) (entries []*entry[M]) {
	for _, l := range r.all() {
		entries = append(entries, l.unfinished(l.unsent(flowOnly))...)
		entries = append(entries, l.backlog.All()...)
	}
	return entries
}
