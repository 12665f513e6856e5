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
	"github.com/understudy-go/understudy/remote/internal/outbox"
	"github.com/understudy-go/understudy/remote/internal/wire"
)

// Send implements [extension.Transport]: it sends msg to the actor at to on another node. It does
// not block. msg is encoded before Send returns. A message that cannot be sent becomes a dead
// letter of s.
func (e *Endpoint) Send(s *actor.System, to extension.Target, msg any) {
	d := encodeBuffers.Get().(*encodeBuffer)
	defer d.done()
	name, err := "", error(nil) // for a nil message
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
	p, size := d.compress(p, e.cfg.CompressFrom)
	d.write(to, p, size)
	if err := e.links.enqueue(linkKey{to.Address, channelUser}, outbox.Frame{Bytes: d.frame, System: s, To: to.Full, Last: deathwatch.IsEnd(msg)}); err != nil {
		extension.DeadLetter(s, to.Full, msg, fmt.Errorf("%w: %w", actor.ErrUnreachable, err))
	}
}

// An encodeBuffer is where a message is encoded before the outbox copies it.
type encodeBuffer struct {
	data   bytes.Buffer
	packed bytes.Buffer // compressed
	frame  []byte

	// The first begun bytes of frame come before the data and belong to the last message. The
	// next message is likely to be for the same actor and of the same type.
	begun int
	path  string
	uid   uint64
	name  string
	size  bool // it was compressed
}

// checkPath refuses a path that no peer can read. [actor.Resolve] makes no such path.
func (d *encodeBuffer) checkPath(to extension.Target) error {
	if d.path == to.Path && d.begun > 0 {
		return nil
	}
	if err := naming.CheckPath(to.Path); err != nil {
		return fmt.Errorf("%w: the path %q %w", actor.ErrNoSuchActor, to.Path, err)
	}
	return nil
}

// compress compresses a message of from bytes or more, unless from is 0. It returns the size
// before, or 0 if it leaves the message as it is.
func (d *encodeBuffer) compress(p extension.Payload, from int) (compressed extension.Payload, size int) {
	if from == 0 || len(p.Data) < from {
		return p, 0
	}
	return wire.Compress(&d.packed, p)
}

// write makes the frame.
func (d *encodeBuffer) write(to extension.Target, p extension.Payload, size int) {
	if d.begun == 0 || d.path != to.Path || d.uid != to.UID || d.name != p.Type || d.size != (size > 0) {
		d.frame = wire.BeginEnvelope(d.frame[:0], to.Path, to.UID, p.Type, size)
		d.begun, d.path, d.uid, d.name, d.size = len(d.frame), to.Path, to.UID, p.Type, size > 0
	}
	d.frame = wire.AppendData(d.frame[:d.begun], 0, p.Data, size)
}

var encodeBuffers = sync.Pool{New: func() any { return new(encodeBuffer) }}

// maxEncodeBuffer is the largest buffer that is kept for the next message, in bytes.
const maxEncodeBuffer = 64 << 10

func (d *encodeBuffer) done() {
	if d.data.Cap() > maxEncodeBuffer || d.packed.Cap() > maxEncodeBuffer || cap(d.frame) > maxEncodeBuffer {
		return
	}
	d.data.Reset()
	d.packed.Reset()
	encodeBuffers.Put(d)
}

// SendControl sends data to the [Config.Control] of the endpoint at addr, in the order of the
// calls. It does not block. If too many frames wait, the oldest are dropped; if the peer is
// unreachable for too long, all are.
func (e *Endpoint) SendControl(addr string, data []byte) {
	if err := e.enqueueControl(addr, data); err != nil {
		e.log.Debug("control frame dropped", zap.String("peer", addr), zap.Error(err))
	}
}

func (e *Endpoint) enqueueControl(addr string, data []byte) error {
	if len(data) > e.cfg.MaxMessage {
		return ErrTooLarge
	}
	frame := wire.AppendFrame(make([]byte, 0, wire.HeaderSize+len(data)), data)
	return e.links.enqueue(linkKey{addr, channelControl}, outbox.Frame{Bytes: frame})
}

// checkSize fails with [ErrTooLarge].
func (e *Endpoint) checkSize(to extension.Target, p extension.Payload) error {
	if len(to.Path) > wire.MaxText || len(p.Type) > wire.MaxText {
		return fmt.Errorf("%w: path of %d bytes, type of %d, the limit is %d", ErrTooLarge, len(to.Path), len(p.Type), wire.MaxText)
	}
	return e.CheckSize(p.Type, wire.EnvelopeSize(to.Path, p))
}

// CheckSize returns an [ErrTooLarge] if an encoded message of that many bytes exceeds
// [Config.MaxMessage]. of names it in the error. It is for [extension.CheckSize].
func (e *Endpoint) CheckSize(of string, bytes int) error {
	if bytes > e.cfg.MaxMessage {
		return fmt.Errorf("%w: %s needs %d bytes, the limit is %d; Traffic.MaxMessage of cluster.Config, or MaxMessage of remote.Config, raises it, on all nodes", ErrTooLarge, of, bytes, e.cfg.MaxMessage)
	}
	return nil
}
