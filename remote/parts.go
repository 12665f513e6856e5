package remote

import (
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/internal/codec"
)

// A large message is sent in parts, so that others need not wait for all of it, and so that
// each part is acknowledged. Parts of one message follow each other, with frames for other
// actors in between; what is for the same actor waits.
//
// A part is the CBOR array [bytes behind this part, bytes]. All parts of a message
// together are its envelope.

const (
	maxPart    = 24 << 10 // bytes of a message in one frame
	partFields = 2
	partHeads  = frameHeader + 1 + 9 + 9 // at most
)

// A whole is a message that is sent in parts.
type whole struct {
	frame []byte
	begun bool // a part has been written
	lost  bool // has become a dead letter
}

// pushParts queues a large message.
func (o *outbox) pushParts(l letter) {
	o.bytes -= frameHeader // parts have their own
	w := &whole{frame: l.frame}
	for body := l.frame[frameHeader:]; len(body) > 0; {
		part := body[:min(maxPart, len(body))]
		body = body[len(part):]
		o.pushBulk(letter{frame: part, sys: l.sys, to: l.to, whole: w, left: len(body), seq: l.seq})
	}
}

// pushBulk queues what must not overtake a large message.
func (o *outbox) pushBulk(l letter) {
	if o.bulky == nil {
		o.bulky = map[string]int{}
	}
	o.bulky[l.to]++
	if l.left > 0 {
		o.parts++
	}
	o.bulk.push(l)
}

// tookBulk notes that l has left bulk.
func (o *outbox) tookBulk(l letter) {
	if l.whole != nil {
		l.whole.begun = true
	}
	if l.left > 0 {
		o.parts--
	}
	if o.bulky[l.to]--; o.bulky[l.to] == 0 {
		delete(o.bulky, l.to)
	}
}

// begunParts appends to lost what else is of no use in a new session: parts of messages whose
// first parts belong to the old one.
func (o *outbox) begunParts(lost []letter) []letter {
	begun := func(l letter) bool { return l.whole != nil && l.whole.begun }
	for _, q := range []*queue{&o.waiting, &o.bulk} {
		kept := q.letters[:q.head:q.head]
		for _, l := range q.letters[q.head:] {
			if !begun(l) {
				kept = append(kept, l)
				continue
			}
			lost = append(lost, l)
			if q == &o.bulk {
				o.tookBulk(l)
			}
		}
		q.letters = kept
	}
	return lost
}

// wireSize is an upper bound for what appendTo appends.
func (x *letter) wireSize() int {
	if x.whole == nil {
		return len(x.frame)
	}
	return len(x.frame) + partHeads
}

// appendTo appends the frame to what is written.
func (x *letter) appendTo(buf []byte) []byte {
	if x.whole == nil {
		return append(buf, x.frame...)
	}
	begin := len(buf)
	buf = append(buf, make([]byte, frameHeader)...)
	buf = codec.AppendHead(buf, codec.MajorArray, partFields)
	buf = codec.AppendHead(buf, codec.MajorUint, uint64(x.left))
	buf = codec.AppendHead(buf, codec.MajorBytes, uint64(len(x.frame)))
	return putSize(append(buf, x.frame...), begin)
}

// envelope returns the frame with the envelope.
func (x *letter) envelope() []byte {
	if x.whole == nil {
		return x.frame
	}
	return x.whole.frame
}

// oncePerMessage returns letters with one letter only for each message that was in parts, over
// all calls.
func oncePerMessage(letters []letter) []letter {
	return slices.DeleteFunc(letters, func(l letter) bool {
		if l.whole == nil {
			return false
		}
		again := l.whole.lost
		l.whole.lost = true
		return again
	})
}

// A joiner puts parts together. The zero value has none. Its memory grows with what has come.
type joiner struct {
	body    []byte
	left    uint64 // bytes that have not come
	refused bool   // what comes of the message is dropped
}

// isPart tells whether the body of a frame is a part.
func isPart(body []byte) bool { return len(body) > 0 && body[0] == codec.MajorArray|partFields }

// join takes the body of a frame that is a part, and returns that of the message with the last
// one. It fails with [ErrFrame] or [ErrTooLarge], once for a message, and then returns what it
// drops of that. A part that does not go on with a message begins another one.
func (j *joiner) join(r *envelopeReader, frame []byte, limit int) (body, lost []byte, err error) {
	left, data, err := r.part(frame)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%w: a part of nothing, with %d bytes behind it", ErrFrame, left)
	}
	if err != nil {
		lost = j.body
		*j = joiner{}
		return nil, lost, err
	}
	if size := uint64(len(data)); j.left > 0 && (size > j.left || j.left-size != left) {
		if !j.refused {
			lost, err = j.body, fmt.Errorf("%w: a part of %d bytes with %d behind it, where %d are left", ErrFrame, size, left, j.left)
		}
		*j = joiner{}
	}
	if have := len(j.body) + len(data); !j.refused && (have > limit || left > uint64(limit-have)) {
		lost = append(j.body, data...)
		err = fmt.Errorf("%w: %d bytes in parts, and %d to come, the limit is %d", ErrTooLarge, have, left, limit)
		*j = joiner{refused: true}
	}
	return j.add(left, data), lost, err
}

// add adds what a part has, and returns the message with the last one.
func (j *joiner) add(left uint64, data []byte) (body []byte) {
	j.left = left
	if !j.refused {
		j.body = append(j.body, data...)
	}
	if left > 0 {
		return nil
	}
	body = j.body
	*j = joiner{}
	return body
}
