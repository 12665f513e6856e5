package actor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/payload"
)

// mostMessageBytes bounds the encoded messages that a system keeps with its dead letters.
const mostMessageBytes = 16 << 20

// keptMessages are the messages of dead letters. A message is kept no longer than the description
// of its letter.
type keptMessages struct {
	most   int // 0: none is kept; never changes
	last   uint64
	bytes  int
	all    []*keptMessage // in the order of their numbers
	resent []*resent      // under way
}

type keptMessage struct {
	number    uint64
	recipient string
	packed    payload.Payload // so nobody can change it
}

func (m *keptMessage) size() int { return len(m.recipient) + len(m.packed.Type) + len(m.packed.Data) }

// of encodes the message of a dead letter, and completes the description of that. It returns nil if
// the message is not to be kept.
func (k *keptMessages) of(d *DeadLetter, refs []*core, letter *actorhook.DeadLetter) *keptMessage {
	if k.most == 0 {
		return nil
	}
	letter.Asked = slices.ContainsFunc(refs, func(c *core) bool { return askerOf(c) != nil || c.isFarAsk() })
	m := &keptMessage{recipient: d.Recipient}
	if !hasPath(d.Recipient) {
		letter.NotKept = "its recipient is no actor with a path"
		return nil
	}
	var err error
	if m.packed, err = packedLetter(d.Message); err != nil {
		letter.NotKept = whyNotKept(err)
		return nil
	}
	letter.Asked = letter.Asked || slices.ContainsFunc(pathsIn(m.packed.Data), isPathOfAsk) // also of one that has ended
	if n := m.size(); n > mostMessageBytes {
		letter.NotKept = fmt.Sprintf("it has %d bytes, and all messages together may have %d", n, mostMessageBytes)
		return nil
	}
	return m
}

func isPathOfAsk(path string) bool {
	l, err := parsePath(path)
	kind, _, _ := outsideTree(l.path)
	return err == nil && kind == askPath
}

// A message that has arrived from another node may be encoded.
func packedLetter(msg any) (payload.Payload, error) {
	if p, encoded := msg.(payload.Payload); encoded {
		return p, nil
	}
	return payload.Pack(msg)
}

func whyNotKept(err error) string {
	if unregistered, ok := errors.AsType[*codec.UnregisteredError](err); ok && unregistered.Type != nil {
		return shortened(unregistered.Error(), longestPath)
	}
	return shortened(err.Error(), longestPath)
}

func hasPath(recipient string) bool {
	if strings.HasPrefix(recipient, actorhook.ToSingleton) {
		return true
	}
	l, err := parsePath(recipient)
	_, _, outside := outsideTree(l.path)
	return err == nil && !outside
}

// keep gives a message of the newest letter its number. The oldest give way if there are too many.
func (k *keptDeadLetters) keep(m *keptMessage) {
	of := &k.messages
	of.last++
	m.number = of.last
	of.all, of.bytes = append(of.all, m), of.bytes+m.size()
	newest := &k.ring[k.last]
	newest.Numbers = append(newest.Numbers, m.number)
	for len(of.all) > of.most || of.bytes > mostMessageBytes {
		k.take(of.all[0].number)
	}
}

// take returns nil if no message with the number is kept.
func (k *keptDeadLetters) take(number uint64) *keptMessage {
	m := k.messages.find(number)
	if m == nil {
		return nil
	}
	k.messages.forget([]uint64{number})
	for i := range k.ring { // the oldest first, which is often the one
		of := &k.ring[(k.last+1+i)%len(k.ring)].Numbers
		if at, found := slices.BinarySearch(*of, number); found {
			*of = slices.Delete(*of, at, at+1)
			break
		}
	}
	return m
}

func (k *keptMessages) find(number uint64) *keptMessage {
	i, found := k.search(number)
	if !found {
		return nil
	}
	return k.all[i]
}

func (k *keptMessages) search(number uint64) (i int, found bool) {
	return slices.BinarySearchFunc(k.all, number, func(m *keptMessage, number uint64) int { return cmp.Compare(m.number, number) })
}

func (k *keptMessages) forget(numbers []uint64) {
	for _, number := range numbers {
		i, found := k.search(number)
		if !found {
			continue
		}
		k.bytes -= k.all[i].size()
		if i > 0 {
			k.all = slices.Delete(k.all, i, i+1)
			continue
		}
		k.all[0] = nil
		k.all = k.all[1:] // the oldest, without moving all others
	}
}
