package actor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/payload"
)

type asker interface {
	// refuse ends the ask, because a message with its ref has become a dead letter.
	refuse(why error)
	// share disables refuse, because the ref was sent to several actors.
	share()
	// waits notes why its request waits, for the error of an ask that ends meanwhile.
	waits(why error)
	// nil: it is not known, or no actor asks
	askedBy() *core
	follow(to *core, again sendsAgain)
	// again reports whether its request is sent again, because recipient is not where it was sent.
	again(recipient string) bool
}

// askerOf returns nil if c is no reply ref of this node.
func askerOf(c *core) asker {
	if a, ok := c.impl.(interface{ asker() asker }); ok {
		return a.asker()
	}
	return nil
}

type refusal struct {
	_         struct{} `cbor:",toarray"`
	Shared    bool     // several have been told; else it is a dead letter, or it waits
	Recipient string
	Reason    payload.Error
	Waits     bool // it waits, for that reason
}

func init() { RegisterType[refusal]("understudy.refusal") }

// A lost refusal is no dead letter.
func (refusal) Carried(*System) (string, any, bool) { return "", nil, false }

// refuse ends the asks among refs, which wait for a reply to a dead letter, and the ask to which
// that was the reply. If it has the wrong type, or its node is unreachable, a proper reply may
// still arrive.
func (s *System) refuse(recipient string, refs []*core, reason error) {
	for _, c := range refs {
		c.refuse(recipient, reason)
	}
	if guard.Is(reason, ErrUnreachable) || guard.Is(reason, ErrWrongType) || !mayBeAsk(recipient) {
		return
	}
	if c := s.askAt(recipient); c != nil {
		c.refuse(recipient, reason)
	}
}

func (s internals) Refuse(msg any, why error) {
	for _, c := range s.refsOf(msg) {
		c.refuse("", why)
	}
}

func (s internals) NoteBroadcast(msg any) {
	for _, c := range s.refsOf(msg) {
		if a := askerOf(c); a != nil {
			a.share()
		} else {
			c.sendRefusal(refusal{Shared: true})
		}
	}
}

func (s internals) Explain(msg any, why error) {
	for _, c := range s.refsOf(msg) {
		if a := askerOf(c); a != nil {
			a.waits(why)
		} else {
			c.sendRefusal(refusal{Waits: true, Reason: briefly(payload.PackError(why))})
		}
	}
}

// The message may be encoded.
func (s *System) refsOf(msg any) (found []*core) {
	p, encoded := msg.(payload.Payload)
	if !encoded && codec.HasFormat(reflect.TypeOf(msg)) {
		p, _ = payload.Pack(msg) // its refs are texts; what cannot be encoded has none to find
		encoded = true
	}
	if !encoded {
		return refsIn(msg)
	}
	for _, path := range pathsIn(p.Data) {
		if c := s.askAt(path); c != nil {
			found = append(found, c)
		}
	}
	return found
}

func (s *System) askAt(path string) *core {
	l, err := parsePath(path)
	if _, _, outside := outsideTree(l.path); err != nil || !outside {
		return nil
	}
	return s.resolve(path)
}

func mayBeAsk(path string) bool {
	return strings.Contains(path, askPath+"/") || strings.Contains(path, tempPath+"/")
}

// Of an ask on another node it is the path of the ask. It is "" without a reply ref.
func senderOf(refs []*core) string {
	for _, c := range refs {
		if a := askerOf(c); a != nil {
			if by := a.askedBy(); by != nil {
				return by.actor().fullPath()
			}
		} else if c.isFarAsk() {
			return c.fullPath()
		} else if c.outside && c.parent != nil { // an adapter
			return c.parent.fullPath()
		}
	}
	return ""
}

func (c *core) refuse(recipient string, reason error) {
	if a := askerOf(c); a != nil {
		a.refuse(refused(recipient, reason))
		return
	}
	c.sendRefusal(refusal{Recipient: recipient, Reason: briefly(payload.PackError(reason))})
}

// The code that drops a request may see by the clock that its ask has ended, before its timer has
// fired. The ask then ends by that timer: its error has to wrap context.DeadlineExceeded.
func endsItself(r *metadata.Request, why error) bool { return r.Over() && guard.Is(why, ErrWithdrawn) }

func refused(recipient string, reason error) error {
	if recipient == "" {
		return reason
	}
	return fmt.Errorf("dead letter at %s: %w", recipient, reason)
}

const maxReason = 4 << 10

func briefly(p payload.Error) payload.Error {
	p.Text = strings.ToValidUTF8(p.Text[:min(len(p.Text), maxReason)], "")
	return p
}

func (c *core) sendRefusal(r refusal) {
	if c.isFarAsk() {
		c.impl.deliver(r, entrance{})
	}
}

func (c *core) isFarAsk() bool {
	far, ok := c.impl.(*remoteActor)
	return ok && (far.sendTo.Path == askPath || far.sendTo.Path == tempPath)
}

func (c *core) deliverOutside(msg any, by entrance) {
	r, ok := msg.(refusal)
	a := askerOf(c)
	switch {
	case !ok:
		c.impl.deliver(msg, by)
	case a != nil && r.Shared:
		a.share()
	case a != nil && r.Waits:
		a.waits(payload.UnpackError(r.Reason, binder{c.sys}))
	case a != nil:
		why := payload.UnpackError(r.Reason, binder{c.sys})
		if !guard.Is(why, ErrNoSuchActor) || !a.again(r.Recipient) {
			a.refuse(refused(r.Recipient, why))
		}
	}
}

const maxPaths = 100

// The CBOR texts that begin like a path may be refs, and what looks like the ref of an ask where
// another codec has encoded the message.
func pathsIn(data []byte) (paths []string) {
	size := func(at int) int { return textSize(data[:at]) }
	if codec.IsFormatted(data) {
		size = func(at int) int { return askTextSize(data[at:]) }
	}
	for at := 0; len(paths) < maxPaths; {
		i := bytes.Index(data[at:], []byte(scheme))
		if i < 0 {
			break
		}
		at += i
		if size := size(at); size >= len(scheme) && size <= len(data)-at {
			paths = append(paths, string(data[at:at+size]))
		}
		at += len(scheme)
	}
	return paths
}

const maxAskText = 600

// The text of an ask or an adapter ends in its number, "#", and the number once more. Without such
// a text the size is 0.
func askTextSize(data []byte) int {
	data = data[:min(len(data), maxAskText)]
	path, rest, found := bytes.Cut(data, []byte{'#'})
	number := path[bytes.LastIndexByte(path, '/')+1:]
	if !found || len(number) == 0 || !bytes.HasPrefix(rest, number) {
		return 0
	}
	return len(path) + 1 + len(number)
}

// The CBOR head of the text is at the end of before. Without a text the size is 0.
func textSize(before []byte) int {
	const text, oneByte, twoBytes = 0x60, 0x78, 0x79
	n := len(before)
	switch {
	case n >= 3 && before[n-3] == twoBytes:
		return int(binary.BigEndian.Uint16(before[n-2:]))
	case n >= 2 && before[n-2] == oneByte:
		return int(before[n-1])
	case n >= 1 && before[n-1]&0xe0 == text:
		return int(before[n-1] & 0x1f)
	}
	return 0
}
