package actor

import (
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
)

// A described is a message with metadata. It is a task, so that messages without metadata, which
// are nearly all, have no place for it.
type described[M any] struct {
	msg      M
	metadata metadata.Metadata
}

func (d *described[M]) run(c *cell[M]) {
	kept := c.own()
	kept.metadata = d.metadata
	defer func() { kept.metadata = metadata.Metadata{} }()
	c.handleTaskMessage(d.msg)
}

func (d *described[M]) exempt() bool { return false }

func (d *described[M]) undelivered() (any, bool) { return d.msg, true }

// handledMetadata returns the metadata of the message that is being handled.
func (b *inbox[M]) handledMetadata() metadata.Metadata { return b.metadata }

// Metadata implements extension.MetadataOf.
func (x contextInternals[M]) Metadata() metadata.Metadata {
	x.cell.check("MetadataOf")
	return x.cell.outermost().handledMetadata()
}

// TellWith implements extension.TellWith.
func (r refInternals[M]) TellWith(msg M, m metadata.Metadata) {
	if r.c == nil || m.IsEmpty() {
		r.Tell(msg)
		return
	}
	switch to := r.c.impl.(type) {
	case *cell[M]:
		to.tellWith(msg, m)
	case *remoteActor:
		to.deliverWith(msg, m)
	case *emptyRef:
		if next, _ := to.sys.recipient(to.label, to.uid); next != nil {
			refInternals[M]{ActorRef[M]{next}}.TellWith(msg, m)
			return
		}
		r.Tell(msg) // which makes it a dead letter
	default:
		r.Tell(msg)
	}
}

func (b *inbox[M]) tellWith(msg M, m metadata.Metadata) {
	copied, err := carried(&b.core, msg)
	if err != nil {
		b.sys.deadLetter(&b.core, msg, err)
		return
	}
	b.enqueue(item[M]{task: &described[M]{copied, m}}, entrance{})
}

// A describingTransport is a transport that carries metadata. p is nil for a sender that must not
// wait.
type describingTransport interface {
	SendWith(m metadata.Metadata, p *actorhook.Patience, s *System, target actorhook.Target, msg any)
}

// deliverWith is deliver for a message with metadata, which a transport may be unable to carry.
func (r *remoteActor) deliverWith(msg any, m metadata.Metadata) {
	t, ok := r.sys.transport.(describingTransport)
	if !ok {
		r.deliver(msg, entrance{})
		return
	}
	r.sys.sent.Add(1)
	var waits *actorhook.Patience
	if r.mayWait {
		p := r.patience(entrance{})
		waits = &p
	}
	t.SendWith(m, waits, r.sys, r.sendTo, msg)
}
