package actor

import (
	"context"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
)

// A described is an item with metadata. It is a task, so that messages without metadata, which are
// nearly all, have no place for it.
type described struct {
	item     // never described itself
	metadata metadata.Metadata
}

// A message with nothing but a request needs no task.
func (it *item) with(m metadata.Metadata) item {
	if it.task == nil && !m.HasValues() {
		return item{msg: it.msg, request: m.Request()}
	}
	if m.IsEmpty() {
		return *it
	}
	return item{task: &described{*it, m}}
}

func (it *item) plain() item {
	if d, ok := it.task.(*described); ok {
		return d.item
	}
	return item{msg: it.msg, task: it.task}
}

func (it *item) metadata() (none metadata.Metadata) {
	if d, ok := it.task.(*described); ok {
		return d.metadata
	}
	return none.WithRequest(it.request)
}

func (d *described) run(c *cell) {
	if r := d.metadata.Request(); r != nil {
		if why := take(c, r); why != nil {
			c.reportUndelivered(d.item, why)
			return
		}
	}
	kept := c.own()
	kept.metadata, kept.span = d.metadata, beginSpan(c, d)
	returned := false
	defer func() {
		kept.span.end(returned)
		kept.metadata, kept.span = metadata.Metadata{}, nil
	}()
	if d.metadata.Request() != nil && d.task == nil {
		handleAnyRequest(c, d.msg, c.handleTaskMessage)
	} else {
		d.item.run(c)
		handledRequest(c)
	}
	returned = true
}

func metadataOf(c *cell) metadata.Metadata { return c.metadata.WithRequest(requestOf(c)) }

func (it *item) run(c *cell) {
	if it.task != nil {
		it.task.run(c)
		return
	}
	if it.request == nil {
		c.handleTaskMessage(it.msg)
		return
	}
	outer := c.core.outermost()
	if why := take(outer, it.request); why != nil {
		c.reportUndelivered(item{msg: it.msg}, why)
		return
	}
	handleAnyRequest(outer, it.msg, c.handleTaskMessage)
}

func (x *inside) Metadata() metadata.Metadata {
	x.cell.core.check("MetadataOf")
	return metadataOf(x.cell.core.outermost())
}

// A parked message is told without waiting.
func (r refInternals) TellWith(msg any, m metadata.Metadata, parked bool) {
	if r.c == nil {
		deadLetterOfNoSystem("", msg)
		return
	}
	if request := m.Request(); request != nil {
		request.Keep() // the actor that passes it on has not handled it
	}
	_ = tellAny(r.c, msg, entrance{metadata: m, parked: parked}) // which reports it
}

// TellContext is [ActorRef.Tell] with a context. The message continues the trace of ctx: the
// handler of the actor, here or on another node, runs within a span that is a child of the span in
// ctx. Inside a handler pass the handler's own ctx. Without a tracer, see package otel below
// actor/telemetry, and for a ctx without a sampled span, no message carries anything.
//
// If TellContext has to wait for room, as Tell describes, the end of ctx ends the wait, and the
// message is a dead letter. A ctx that has ended prevents nothing else.
func (r ActorRef[M]) TellContext(ctx context.Context, msg M) {
	if r.c == nil {
		deadLetterOfNoSystem("", msg)
		return
	}
	m := traceOf(ctx, r.c.sys)
	if m.IsEmpty() && r.c.ofCell() && !r.c.flags.has(blocking) {
		r.Tell(msg) // most messages: in no trace, and without a wait that ctx could end
		return
	}
	_ = tellBy(r.c, msg, entrance{ctx: ctx, metadata: m}) // which reports it
}

// p is nil for a sender that must not wait.
type describingTransport interface {
	SendWith(m metadata.Metadata, p *actorhook.Patience, s *System, target actorhook.Target, msg any)
}

// A transport may be unable to carry metadata.
func (r *remoteActor) deliverWith(msg any, by entrance) {
	t, ok := r.sys.transport.(describingTransport)
	if !ok {
		by.metadata = metadata.Metadata{}
		r.deliver(msg, by)
		return
	}
	r.sys.sent.Add(1)
	var waits *actorhook.Patience
	if r.mayWait && !by.parked {
		p := r.patience(by)
		waits = &p
	}
	t.SendWith(hop(r.sys.tracer, &r.sendTo, by.metadata, msg), waits, r.sys, r.sendTo, msg)
}
