package bench

import "sync/atomic"

// A Spreader is a [Contender] whose users ask from any goroutine, over as many connections as they
// like. Only such contenders run the scenarios that begin with [NodesPrefix] or
// [ConnectionsPrefix].
type Spreader interface {
	Contender
	// DialAll connects one system to what Serve has spawned in several processes, and returns a
	// function for each that asks its adder.
	DialAll(addresses []string) []func(n int) int
}

// They begin the names of scenarios with several processes, and with several connections.
const (
	NodesPrefix       = "nodes-"
	ConnectionsPrefix = "connections-"
)

const spreadAskers = 64

// askNodes asks the adders of that many other processes in turn.
func askNodes(c Contender, r *Run, servers int) {
	addresses := make([]string, servers)
	for i := range addresses {
		addresses[i] = r.startServer(serve, r.N+1, 1, newWindow(1)).address
	}
	askInTurnOf(r, spreader(c).DialAll(addresses))
}

// askOverConnections asks one adder, from that many systems.
func askOverConnections(c Contender, r *Run, connections int) {
	address := r.startServer(serve, r.N+connections, 1, newWindow(1)).address
	var all []func(n int) int
	for range connections {
		all = append(all, spreader(c).DialAll([]string{address})...)
	}
	askInTurnOf(r, all)
}

// askInTurnOf begins to measure when all have answered.
func askInTurnOf(r *Run, all []func(n int) int) {
	for _, ask := range all {
		ask(0)
	}
	var asked atomic.Int64
	Ask(r, spreadAskers, func(n int) int { return all[int(asked.Add(1)-1)%len(all)](n) })
}

func spreader(c Contender) Spreader {
	s, ok := c.(Spreader)
	if !ok {
		fail("this library does not ask from any goroutine")
	}
	return s
}
