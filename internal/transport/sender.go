package transport

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"sync"

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/transport/outbox"
	"github.com/understudy-go/understudy/internal/transport/wire"
)

// Send implements [extension.Transport]: it sends msg to the actor at to on another node. It does
// not block. msg is encoded before Send returns. A message that cannot be sent becomes a dead
// letter of s.
func (e *Endpoint) Send(s *actor.System, to extension.Target, msg any) {
	e.send(s, to, msg, metadata.Metadata{}, patience{})
}

// SendWaiting is Send for a sender that may be slowed down: while the outbox is full, it waits for
// room, as long as p allows and the peer has acknowledged something within the last second, at most
// for [Config.UnreachableAfter].
func (e *Endpoint) SendWaiting(p extension.Patience, s *actor.System, to extension.Target, msg any) {
	e.send(s, to, msg, metadata.Metadata{}, patience{Patience: p, waits: true})
}

// SendWith is Send for a message with metadata, or, if p is not nil, SendWaiting. Metadata that is
// too large, or that makes the message too large, is dropped and counted by [Endpoint.Skipped]; the
// message is sent.
func (e *Endpoint) SendWith(m extension.Metadata, p *extension.Patience, s *actor.System, to extension.Target, msg any) {
	by := patience{waits: p != nil}
	if p != nil {
		by.Patience = *p
	}
	e.send(s, to, msg, m, by)
}

func (e *Endpoint) send(s *actor.System, to extension.Target, msg any, m metadata.Metadata, by patience) {
	d := encodeBuffers.Get().(*encodeBuffer)
	defer d.done()
	if !m.Fits() {
		m = metadata.Metadata{}
		e.noteDropped(to.Address)
	}
	data, err := d.encode(to, msg, m)
	if err != nil {
		err = fmt.Errorf("%w: %w", actor.ErrNotSerializable, err)
		e.logType(fmt.Sprintf("%T", msg), "message cannot be encoded", err)
		extension.DeadLetter(s, to.Full, msg, err)
		return
	}
	if err := cmp.Or(d.unfit, e.checkFrame(d, data)); err != nil {
		extension.DeadLetter(s, to.Full, msg, err)
		return
	}
	if len(d.frame) > e.cfg.MaxMessage && !m.IsEmpty() { // the message alone fits
		d.frame = d.withoutMetadata(to, data)
		m = metadata.Metadata{}
		e.noteDropped(to.Address)
	}
	d.compress(to, data, m, e.cfg.CompressFrom)
	frame := outbox.Frame{Bytes: d.frame, System: s, To: to.Full}
	if at, ends, ok := m.LeftAt(); ok && d.begun > 0 && len(d.frame) <= wire.MaxPart {
		frame.SetLeft(d.begun+at, ends)
	}
	if last, ok := msg.(actorhook.Last); ok && last.OvertakesNone() {
		frame.SetLast()
	}
	if err := e.links.enqueueWaiting(linkKey{to.Address, channelUser}, frame, by); err != nil {
		extension.DeadLetter(s, to.Full, msg, fmt.Errorf("%w: %w", actor.ErrUnreachable, err))
		return
	}
	d.sent()
}

// The outbox copies a small frame, and takes over the memory of a large one.
type encodeBuffer struct {
	frame  []byte
	packed bytes.Buffer // compressed

	// The first begun bytes of frame come before the metadata and belong to the last message. The
	// next message is likely to be for the same actor and of the same type.
	begun int
	path  string
	uid   uint64
	name  string
	unfit error // why no peer can read what comes before the metadata

	typ     reflect.Type // of the last message
	encoder codec.Encoder
}

// [actor.Resolve] makes no path that no peer can read.
func checkTexts(path, name string) error {
	if err := naming.CheckPath(path); err != nil {
		return fmt.Errorf("%w: the path %q %w", actor.ErrNoSuchActor, path, err)
	}
	if len(path) > wire.MaxText || len(name) > wire.MaxText {
		return fmt.Errorf("%w: path of %d bytes, type of %d, the limit is %d", remote.ErrTooLarge, len(path), len(name), wire.MaxText)
	}
	return nil
}

func (e *Endpoint) noteDropped(peer string) {
	if e.skipped.Add(metadataTooLarge, peer) {
		e.log.Warn("metadata is dropped, as it is too large; its message is sent without", zap.String("peer", peer))
	}
}

// Kinds of [Endpoint.Skipped] for metadata.
const (
	metadataTooLarge = "metadata to send"
	metadataUnusable = "metadata received"
)

// data is how many bytes of the frame are data.
func (d *encodeBuffer) encode(to extension.Target, msg any, m metadata.Metadata) (data int, err error) {
	if msg == nil {
		d.begin(to, "")
		d.frame = wire.AppendData(m.Append(d.frame[:d.begun]), 0, nil, 0)
		return 0, nil
	}
	encoder, err := d.encoderOf(msg)
	if err != nil {
		return 0, err
	}
	d.begin(to, encoder.Name())
	size := encoder.Size(msg)
	frame := d.frame[:d.begun]
	if size > wire.MaxPart {
		frame = append(outbox.LargeBuffer(size+size/16+m.Size()+wire.EnvelopeSize(to.Path, extension.Payload{Type: encoder.Name()})), frame...)
	}
	frame = m.Append(frame)
	head := len(frame)
	frame = wire.ReserveHead(frame, size)
	begin := len(frame)
	if frame, err = encoder.Append(frame, msg); err != nil {
		return 0, err
	}
	data = len(frame) - begin
	d.frame = wire.FillHead(frame, head, begin)
	return data, nil
}

// The data of the message is as long as that.
func (d *encodeBuffer) withoutMetadata(to extension.Target, data int) []byte {
	payload := extension.Payload{Type: d.name, Data: d.frame[len(d.frame)-data:]}
	d.begun = 0
	return d.frameOf(to, payload, metadata.Metadata{}, 0)
}

// size is the size of the data before compression, or 0 if it is not compressed.
func (d *encodeBuffer) frameOf(to extension.Target, p extension.Payload, m metadata.Metadata, size int) []byte {
	buf := make([]byte, 0, m.Size()+wire.EnvelopeSize(to.Path, p))
	return wire.AppendData(m.Append(wire.BeginEnvelope(buf, to.Path, to.UID, p.Type, size)), 0, p.Data, size)
}

func (d *encodeBuffer) encoderOf(msg any) (_ codec.Encoder, err error) {
	if t := reflect.TypeOf(msg); d.typ != t {
		d.typ = nil
		if d.encoder, err = codec.EncoderOf(msg); err == nil {
			d.typ = t
		}
	}
	return d.encoder, err
}

func (d *encodeBuffer) begin(to extension.Target, name string) {
	if d.begun == 0 || d.path != to.Path || d.uid != to.UID || d.name != name {
		d.frame = wire.BeginEnvelope(d.frame[:0], to.Path, to.UID, name, 0)
		d.begun, d.path, d.uid, d.name = len(d.frame), to.Path, to.UID, name
		d.unfit = checkTexts(to.Path, name)
	}
}

// compress replaces the frame if the data has from bytes or more and becomes smaller. A
// from of 0 turns it off.
func (d *encodeBuffer) compress(to extension.Target, data int, m metadata.Metadata, from int) {
	if from == 0 || data < from {
		return
	}
	p := extension.Payload{Type: d.name, Data: d.frame[len(d.frame)-data:]}
	packed, size := wire.Compress(&d.packed, p)
	if size == 0 {
		return
	}
	d.frame, d.begun = d.frameOf(to, packed, m, size), 0
}

// The outbox has the frame.
func (d *encodeBuffer) sent() {
	if len(d.frame) > wire.MaxPart {
		d.frame, d.begun = nil, 0
	}
}

var encodeBuffers = sync.Pool{New: func() any { return new(encodeBuffer) }}

// In bytes. A larger buffer is not kept for the next message.
const maxEncodeBuffer = 64 << 10

func (d *encodeBuffer) done() {
	if d.packed.Cap() > maxEncodeBuffer || cap(d.frame) > maxEncodeBuffer {
		return
	}
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
		return remote.ErrTooLarge
	}
	frame := wire.AppendFrame(make([]byte, 0, wire.HeaderSize+len(data)), data)
	return e.links.enqueue(linkKey{addr, channelControl}, outbox.Frame{Bytes: frame})
}

// checkFrame fails with [remote.ErrTooLarge].
func (e *Endpoint) checkFrame(d *encodeBuffer, data int) error {
	if size := wire.EnvelopeBound(len(d.path), len(d.name), data); size > e.cfg.MaxMessage {
		return e.CheckSize(d.name, size)
	}
	return nil
}

// CheckSize returns an [remote.ErrTooLarge] if an encoded message of that many bytes exceeds
// [Config.MaxMessage]. of names it in the error. It is for [extension.CheckSize].
func (e *Endpoint) CheckSize(of string, bytes int) error {
	if bytes > e.cfg.MaxMessage {
		return fmt.Errorf("%w: %s needs %d bytes, the limit is %d; Traffic.MaxMessage of cluster.Config raises it, on all nodes", remote.ErrTooLarge, of, bytes, e.cfg.MaxMessage)
	}
	return nil
}
