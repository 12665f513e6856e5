package home

import (
	"maps"
	"slices"
)

// An Input is something that happens to a coordinator: one of those here, which concern the nodes,
// or one that only a workload knows.
type Input interface{ IsInput() }

type (
	// Recovered says that all facts have been replayed. It is the first input, and occurs once.
	Recovered struct{}

	// ViewChanged has the whole state of the cluster: all members, and the former members that may
	// still be running. Actors, Ready and Draining of the nodes are ignored.
	ViewChanged struct {
		Nodes []Node
		Gone  []Gone
	}

	// Received has a message of an agent.
	Received struct {
		_       struct{} `cbor:",toarray"`
		Message FromAgent
	}

	// Drain says that the node is leaving, so all actors that can be moved are moved away. Token is
	// answered when nothing more can be moved. A node that is not a member counts as empty.
	Drain struct {
		Token Token
		Node  NodeID
	}

	// Tick says that it is the time that Next has returned, or later.
	Tick struct{}
)

// IsInput implements [Input].
func (Recovered) IsInput() {}

// IsInput implements [Input].
func (ViewChanged) IsInput() {}

// IsInput implements [Input].
func (Received) IsInput() {}

// IsInput implements [Input].
func (Drain) IsInput() {}

// IsInput implements [Input].
func (Tick) IsInput() {}

// A Token identifies a request of a client.
type Token uint64

// An Effect is something for the coordinator to do after a step: a [Send], a [Reply], or an effect
// of a workload.
type Effect interface{ IsEffect() }

type (
	// A Send sends a StartRequest, StopRequest or ReportRequest to the agent of a node.
	Send struct {
		Node        string
		Incarnation uint64
		Msg         any
	}
	// A Reply answers a request with a value, or only with an error, which may be nil.
	Reply struct {
		Token Token
		Value any
		Err   error
	}
	// A Waits says why a request has no Reply yet. It replaces an earlier one.
	Waits struct {
		Token Token
		Why   string
	}
)

// IsEffect implements [Effect].
func (Send) IsEffect() {}

// IsEffect implements [Effect].
func (Reply) IsEffect() {}

// IsEffect implements [Effect].
func (Waits) IsEffect() {}

// An outbox has the effects of a step.
type outbox struct {
	effects []Effect
	waits   map[Token]string // why requests wait that this step has not answered
}

// Emit adds an effect.
func (o *outbox) Emit(e Effect) { o.effects = append(o.effects, e) }

// Waits says why a request is not answered in this step.
func (o *outbox) Waits(to Token, why string) { o.waits[to] = why }

// Reply answers a request.
func (o *outbox) Reply(to Token, value any, err error) {
	delete(o.waits, to)
	o.Emit(Reply{Token: to, Value: value, Err: err})
}

func (o *outbox) send(to NodeID, msg any) {
	o.Emit(Send{Node: to.Name, Incarnation: to.Incarnation, Msg: msg})
}

// drained replies to the requests that wait for the end of a drain.
func (o *outbox) drained(n *nodeState) {
	for _, token := range n.drainTokens {
		o.Reply(token, nil, nil)
	}
	n.drainTokens = nil
}

// Take returns the effects, once.
func (o *outbox) Take() []Effect {
	effects := o.effects
	for _, to := range slices.Sorted(maps.Keys(o.waits)) {
		effects = append(effects, Waits{to, o.waits[to]})
	}
	clear(o.waits)
	o.effects = nil
	return effects
}
