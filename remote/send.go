package remote

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/remote/internal/deathwatch"
)

// Send sends msg to the actor at to, on another node. It implements [extension.Transport]:
// it does not block, it encodes msg before it returns, and what cannot be sent
// becomes a dead letter of s.
func (e *Endpoint) Send(s *actor.System, to extension.Target, msg any) {
	d := drafts.Get().(*draft)
	defer d.done()
	name, err := "", error(nil) // those of a nil
	if msg != nil {
		name, err = codec.EncodeTo(&d.data, msg)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", actor.ErrNotSerializable, err)
		e.logType(fmt.Sprintf("%T", msg), "message cannot be encoded", err)
		extension.DeadLetter(s, to.Full, msg, err)
		return
	}
	p := extension.Payload{Type: name, Data: d.data.Bytes()}
	if err := errors.Join(d.checkPath(to), e.checkSize(to, p)); err != nil {
		extension.DeadLetter(s, to.Full, msg, err)
		return
	}
	p, size := e.compress(&d.packed, p)
	d.write(to, p, size)
	if err := e.post(linkKey{to.Address, laneUser}, letter{frame: d.frame, sys: s, to: to.Full, last: deathwatch.IsEnd(msg)}); err != nil {
		extension.DeadLetter(s, to.Full, msg, fmt.Errorf("%w: %w", actor.ErrUnreachable, err))
	}
}

// A draft is where a message is encoded before an outbox takes a copy.
type draft struct {
	data   bytes.Buffer
	packed bytes.Buffer // compressed
	frame  []byte

	// What stands in frame before the data, of the last message: the next one is likely to be
	// to the same actor, of the same type.
	begun int
	path  string
	uid   uint64
	name  string
	size  bool // it was compressed
}

// checkPath refuses a target that no peer could read: one that [actor.Resolve] has not made.
func (d *draft) checkPath(to extension.Target) error {
	if d.path == to.Path && d.begun > 0 {
		return nil
	}
	if err := naming.CheckPath(to.Path); err != nil {
		return fmt.Errorf("%w: the path %q %w", actor.ErrNoSuchActor, to.Path, err)
	}
	return nil
}

// write makes the frame.
func (d *draft) write(to extension.Target, p extension.Payload, size int) {
	if d.begun == 0 || d.path != to.Path || d.uid != to.UID || d.name != p.Type || d.size != (size > 0) {
		d.frame = beginEnvelope(d.frame[:0], to.Path, to.UID, p.Type, size)
		d.begun, d.path, d.uid, d.name, d.size = len(d.frame), to.Path, to.UID, p.Type, size > 0
	}
	d.frame = appendData(d.frame[:d.begun], 0, p.Data, size)
}

var drafts = sync.Pool{New: func() any { return new(draft) }}

// maxDraft is how large a draft is kept for the next message.
const maxDraft = 64 << 10

func (d *draft) done() {
	if d.data.Cap() > maxDraft || d.packed.Cap() > maxDraft || cap(d.frame) > maxDraft {
		return
	}
	d.data.Reset()
	d.packed.Reset()
	drafts.Put(d)
}

// SendControl sends data to the [Config.Control] of the endpoint at addr, in the order
// of the calls. It does not block. When too much is waiting, what has waited longest is
// dropped; when the peer is unreachable for too long, all of it.
func (e *Endpoint) SendControl(addr string, data []byte) {
	if err := e.postControl(addr, data); err != nil {
		e.log.Debug("control frame dropped", zap.String("peer", addr), zap.Error(err))
	}
}

func (e *Endpoint) postControl(addr string, data []byte) error {
	if len(data) > e.cfg.MaxMessage {
		return ErrTooLarge
	}
	frame := appendFrame(make([]byte, 0, frameHeader+len(data)), data)
	return e.post(linkKey{addr, laneControl}, letter{frame: frame})
}
