package plan

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

func (Send) IsEffect()  {}
func (Reply) IsEffect() {}

// An outbox has the effects of a step.
type outbox struct{ effects []Effect }

// emit adds an effect.
func (o *outbox) emit(e Effect) { o.effects = append(o.effects, e) }

// reply answers a request.
func (o *outbox) reply(to Token, value any, err error) {
	o.emit(Reply{Token: to, Value: value, Err: err})
}

func (o *outbox) send(to nodeID, msg any) {
	o.emit(Send{Node: to.name, Incarnation: to.incarnation, Msg: msg})
}

// drained replies to the requests that wait for the end of a drain.
func (o *outbox) drained(n *nodeState) {
	for _, token := range n.drainTokens {
		o.reply(token, nil, nil)
	}
	n.drainTokens = nil
}

// take returns the effects, once.
func (o *outbox) take() []Effect {
	effects := o.effects
	o.effects = nil
	return effects
}
