package home

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
)

// IsEffect implements [Effect].
func (Send) IsEffect() {}

// IsEffect implements [Effect].
func (Reply) IsEffect() {}

// An outbox has the effects of a step.
type outbox struct{ effects []Effect }

// Emit adds an effect.
func (o *outbox) Emit(e Effect) { o.effects = append(o.effects, e) }

// Reply answers a request.
func (o *outbox) Reply(to Token, value any, err error) {
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
	o.effects = nil
	return effects
}
