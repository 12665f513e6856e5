package bench

import (
	"encoding/binary"
	"strconv"
	"sync/atomic"
)

// An EntityHost is a [Contender] with entities: actors by id, each of which starts with its first
// message. Only such contenders run the scenarios whose names contain [EntityWord].
type EntityHost interface {
	Contender
	// ServeEntities starts a node that others reach over TCP, with two types of entities. A sink
	// calls newSink when it starts, and then got with the payload of each message. An adder
	// answers numbers. ServeEntities returns the address of the node, and how its own process
	// reaches the entities.
	ServeEntities(newSink func() (got func(payload []byte))) (address string, here Entities)
	// DialEntities starts a node in another process that joins the first one and has no entities.
	DialEntities(address string) Entities
}

// Entities are those of [EntityHost].ServeEntities, as a process reaches them. Each message names
// the id, in the way that users of the library write.
type Entities struct {
	Send func(id string, payload []byte) // to the sink of that id
	Ask  func(id string, n int) int      // asks the adder of that id
}

// EntityWord is in the names of the scenarios with entities.
const EntityWord = "entity"

const awakeEntities = 1000 // how many entities are woken before a measurement, unless it says otherwise

// entityTell sends messages to the sinks of another process in turn.
func entityTell(c Contender, r *Run, awake int) {
	w := newWindow(windowLength)
	tellInTurn(r, w, r.dialEntities(c, awake, w), awake, payloadSize)
}

// entityTellHere does the same with those of this process, without a bound, as fan-out does.
func entityTellHere(c Contender, r *Run) {
	w := newWindow(awakeEntities + r.N)
	all := crowd{total: w.size, sinks: awakeEntities, every: w.size, report: w.confirm}
	_, here := entityHost(c).ServeEntities(all.newSink)
	tellInTurn(r, w, here, awakeEntities, numberSize)
}

// tellInTurn sends messages of that size. A payload is not used again, because the number of
// messages that have arrived does not say which.
func tellInTurn(r *Run, w *window, e Entities, awake, size int) {
	ids := entityIDs(0, awake)
	send := func(number int) {
		w.wait(number - w.size + 1)
		payload := make([]byte, size)
		binary.BigEndian.PutUint64(payload, uint64(number))
		e.Send(ids[number%awake], payload)
	}
	for number := range awake {
		send(number)
	}
	w.wait(awake)
	r.Start()
	for i := range r.N {
		send(awake + i)
	}
	w.wait(awake + r.N)
	r.Stop()
}

// entityAsk asks adders that are awake, in turn.
func entityAsk(c Contender, r *Run, askers int) {
	e := r.dialEntities(c, awakeEntities, newWindow(1))
	askInTurn(r, askers, e, e.wake())
}

// entityAskHere asks adders of this process.
func entityAskHere(c Contender, r *Run) {
	_, here := entityHost(c).ServeEntities(func() func([]byte) { return func([]byte) {} })
	askInTurn(r, 1, here, here.wake())
}

// entityFirst asks r.N adders once each. Others are awake: the processes are connected, and the
// first messages have found the other one.
func entityFirst(c Contender, r *Run, askers int) {
	e := r.dialEntities(c, awakeEntities, newWindow(1))
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
func (r *Run) dialEntities(c Contender, awake int, w *window) Entities {
	s := r.startServer(serveEntities, awake+r.N, awake, w)
	return entityHost(c).DialEntities(s.address)
}

func entityHost(c Contender) EntityHost {
	host, ok := c.(EntityHost)
	if !ok {
		fail("this library has no entities")
	}
	return host
}
