package bench

import (
	"encoding/binary"
	"strconv"
	"sync"
	"sync/atomic"
)

// An EntityHost is a [Contender] with entities: actors by id, each of which starts with its first
// message. Only such contenders run the scenarios whose names begin with [EntityPrefix].
type EntityHost interface {
	Contender
	// ServeEntities starts a node that others reach over TCP, with two types of entities. A sink
	// calls newSink when it starts, and then got with the payload of each message. An adder
	// answers numbers. ServeEntities returns the address of the node.
	ServeEntities(newSink func() (got func(payload []byte))) (address string)
	// DialEntities starts a node in another process that joins the first one and has no entities.
	DialEntities(address string) Entities
}

// Entities are those of [EntityHost].ServeEntities, as another process reaches them. Each message
// names the id, in the way that users of the library write.
type Entities struct {
	Send func(id string, payload []byte) // to the sink of that id
	Ask  func(id string, n int) int      // asks the adder of that id
}

// EntityPrefix begins the names of the scenarios with entities.
const EntityPrefix = "entity-"

const (
	serveEntities = "serve-entities" // as serve
	awakeEntities = 1000             // how many entities are woken before the measurement
)

// entityTell sends messages of that size to the sinks in turn. A payload is not used again, because
// the number of messages that have arrived does not say which.
func entityTell(c Contender, r *Run, size int) {
	w := newWindow(min(windowLength, windowBytes/size))
	e, ids := r.dialEntities(c, w), entityIDs(0, awakeEntities)
	send := func(number int) {
		w.wait(number - w.size + 1)
		payload := make([]byte, size)
		binary.BigEndian.PutUint64(payload, uint64(number))
		e.Send(ids[number%awakeEntities], payload)
	}
	for number := range awakeEntities {
		send(number)
		w.wait(number + 1)
	}
	r.Start()
	for i := range r.N {
		send(awakeEntities + i)
	}
	w.wait(awakeEntities + r.N)
	r.Stop()
}

// entityAsk asks adders that are awake, in turn.
func entityAsk(c Contender, r *Run, askers int) {
	e := r.dialEntities(c, newWindow(1))
	askInTurn(r, askers, e, e.wake())
}

// entityFirst asks r.N adders once each. Others are awake: the processes are connected, and the
// first messages have found the other one.
func entityFirst(c Contender, r *Run, askers int) {
	e := r.dialEntities(c, newWindow(1))
	e.wake()
	askInTurn(r, askers, e, entityIDs(awakeEntities, r.N))
}

// wake asks each of some adders, and returns their ids.
func (e Entities) wake() (ids []string) {
	ids = entityIDs(0, awakeEntities)
	for _, id := range ids {
		e.Ask(id, 0)
	}
	return ids
}

// askInTurn asks adders in turn. All askers share the turn.
func askInTurn(r *Run, askers int, e Entities, ids []string) {
	var asked atomic.Int64
	Ask(r, askers, func(n int) int { return e.Ask(ids[int(asked.Add(1)-1)%len(ids)], n) })
}

// entityIDs returns so many ids, beginning with the one of the number from.
func entityIDs(from, count int) []string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = "entity-" + strconv.Itoa(from+i)
	}
	return ids
}

// dialEntities starts the other process of a run, which will be told r.N messages and one for each
// awake entity before.
func (r *Run) dialEntities(c Contender, w *window) Entities {
	s := r.startServer(serveEntities, awakeEntities+r.N, w)
	return entityHost(c).DialEntities(s.address)
}

func entityHost(c Contender) EntityHost {
	host, ok := c.(EntityHost)
	if !ok {
		fail("this library has no entities")
	}
	return host
}

// A crowd is the other end of a window, as a gate is, for messages to entities in turn. Entities
// run at once, so only the order of each is checked.
type crowd struct {
	total, every int
	arrived      atomic.Int64
	report       func(arrived int)
	reporting    sync.Mutex // keeps reports from going backwards
}

// newSink returns what an entity does with its payloads. The numbers of its messages are
// awakeEntities apart.
func (c *crowd) newSink() func(payload []byte) {
	next := -1
	return func(payload []byte) {
		number := int(binary.BigEndian.Uint64(payload))
		if next < 0 {
			next = number % awakeEntities
		}
		if number != next {
			fail("message %d arrived, not %d", number, next)
		}
		next += awakeEntities
		c.count()
	}
}

func (c *crowd) count() {
	n := int(c.arrived.Add(1))
	if n > awakeEntities && n%c.every != 0 && n != c.total {
		return
	}
	c.reporting.Lock()
	defer c.reporting.Unlock()
	c.report(int(c.arrived.Load()))
}
