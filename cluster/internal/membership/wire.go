package membership

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/protocol"
)

// Version is the newest version of the protocol between the nodes of a cluster that this release
// speaks. It also speaks the version before. Endpoints find out in their handshake which version
// two nodes speak; docs/upgrades.md has the rules.
const Version = 1

var versions = protocol.UpTo(Version)

// Bounds on the messages of another node.
const (
	MaxMembers = codec.MaxBrief
	maxText    = 4 << 10
)

var errMessage = errors.New("cluster: malformed message")

// An UnknownKindError says that a message is of a kind that this release does not know. A newer
// release has sent it, and does not depend on it. Finish the upgrade.
type UnknownKindError struct{ Kind byte }

// Error returns the text of the error.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("%v: of unknown kind %d", errMessage, e.Kind)
}

// Unwrap returns the error of all messages that are not understood.
func (e *UnknownKindError) Unwrap() error { return errMessage }

// An envelope is a message with the incarnation that sent it and the incarnation that it is
// for, 0 for any. It names both, because a connection may outlive the incarnation at either
// end.
type envelope struct {
	from, to uint64
	msg      message
	version  uint64 // in which it is sent; 0 for the lowest that this release speaks, in tests
}

// headerSize is the size of the version, the kind and the two incarnations, in bytes.
const headerSize = 1 + 1 + 8 + 8

func encode(e envelope) []byte {
	body, err := codec.Marshal(e.msg)
	if err != nil {
		panic(fmt.Sprintf("cluster: %T cannot be encoded: %v", e.msg, err))
	}
	version := byte(cmp.Or(e.version, versions.Min)) //nolint:gosec // versions are few
	data := append(make([]byte, 0, headerSize+len(body)), version, kindOf(e.msg))
	data = binary.BigEndian.AppendUint64(data, e.from)
	data = binary.BigEndian.AppendUint64(data, e.to)
	return append(data, body...)
}

// decode is the inverse of encode. The message that it returns needs no further checks.
func decode(data []byte) (envelope, error) {
	if len(data) < headerSize || !versions.Has(uint64(data[0])) {
		return envelope{}, fmt.Errorf("%w: this release speaks %v", errMessage, versions)
	}
	e := envelope{from: binary.BigEndian.Uint64(data[2:]), to: binary.BigEndian.Uint64(data[10:])}
	if e.from == 0 {
		return envelope{}, fmt.Errorf("%w: from nobody", errMessage)
	}
	var err error
	e.msg, err = decodeBody(data[1], data[headerSize:])
	return e, err
}

func kindOf(msg message) byte {
	switch msg.(type) {
	case heartbeat:
		return 1
	case joinRequest:
		return 2
	case joinAnswer:
		return 3
	case tablePull:
		return 4
	case tablePush:
		return 5
	case youAreDown:
		return 6
	case gone:
		return 7
	case goneSeen:
		return 8
	case greeting:
		return 9
	case dissolve:
		return 10
	case observe:
		return 11
	}
	panic(fmt.Sprintf("cluster: no kind for %T", msg))
}

func decodeBody(kind byte, body []byte) (message, error) {
	switch kind {
	case 1:
		return decodeAs[heartbeat](body)
	case 2:
		return decodeAs[joinRequest](body)
	case 3:
		return decodeAs[joinAnswer](body)
	case 4:
		return decodeAs[tablePull](body)
	case 5:
		return decodeAs[tablePush](body)
	case 6:
		return decodeAs[youAreDown](body)
	case 7:
		return decodeAs[gone](body)
	case 8:
		return decodeAs[goneSeen](body)
	case 9:
		return decodeAs[greeting](body)
	case 10:
		return decodeAs[dissolve](body)
	case 11:
		return decodeAs[observe](body)
	default:
		return nil, &UnknownKindError{kind}
	}
}

func decodeAs[T message](body []byte) (message, error) {
	var msg T
	if err := codec.UnmarshalBrief(body, &msg); err != nil {
		return nil, fmt.Errorf("%w: %T: %w", errMessage, msg, err)
	}
	if err := check(msg); err != nil {
		return nil, fmt.Errorf("%w: %T: %w", errMessage, msg, err)
	}
	return msg, nil
}

func check(msg message) error {
	switch msg := msg.(type) {
	case joinRequest:
		return msg.check()
	case joinAnswer:
		return msg.check()
	case tablePush:
		return msg.Table.check()
	case youAreDown:
		return msg.Table.check()
	case dissolve:
		if len(msg.Instead) > MaxMembers {
			return errors.New("too many addresses")
		}
		return checkTexts(msg.Instead, maxAddress)
	case heartbeat:
		if len(msg.Seen) > MaxMembers/8 {
			return errors.New("too many witnesses")
		}
	case tablePull, gone, goneSeen, greeting, observe:
	}
	return nil
}

func (p packed) check() error {
	if len(p.Members)+len(p.Tombstones)+len(p.Rows) > MaxMembers {
		return errors.New("table is too large")
	}
	for _, m := range p.Members {
		if m.Address == "" || m.Incarnation == 0 || m.Status < Joining || m.Status > Down {
			return fmt.Errorf("member %q, incarnation %d, status %d", m.Address, m.Incarnation, m.Status)
		}
	}
	for _, d := range p.Tombstones {
		if d.ID.Address == "" || d.ID.Incarnation == 0 || d.At <= 0 {
			return fmt.Errorf("removed member %v", d.ID)
		}
	}
	return p.checkEntries()
}

// Decode returns a message from the node at an address as an input for the machine, and the
// incarnation that it is for, 0 for any. The error of a message that a newer release has sent may
// be an [*UnknownKindError].
func Decode(address string, data []byte) (to uint64, in Received, err error) {
	e, err := decode(data)
	if err != nil {
		return 0, Received{}, err
	}
	return e.to, Received{From: ID{Address: address, Incarnation: e.from}, msg: e.msg}, nil
}

// DecodeGossip returns a message that gossip has delivered as an input for the machine.
func DecodeGossip(data []byte) (Gossiped, error) {
	e, err := decode(data)
	if err != nil {
		return Gossiped{}, err
	}
	push, ok := e.msg.(tablePush)
	if !ok {
		return Gossiped{}, fmt.Errorf("%w: %T by gossip", errMessage, e.msg)
	}
	return Gossiped{push}, nil
}

// Encode returns the message as bytes, sent by an incarnation of this node in a version of the
// protocol.
func (a Send) Encode(from, version uint64) []byte {
	return encode(envelope{from: from, to: a.To.Incarnation, msg: a.msg, version: version})
}

// Encode returns the heartbeat as bytes, for the datagram and for the TCP stream. from is the
// incarnation of this node. As it goes to several nodes, all of them have to speak the version.
func (b Beat) Encode(from, version uint64) (datagram, stream []byte) {
	datagram = encode(envelope{from: from, msg: b.msg, version: version})
	b.msg.Stream = true
	return datagram, encode(envelope{from: from, msg: b.msg, version: version})
}

// Encode returns each entry of the change as a broadcast of its own. The key of an entry stays
// the same when the entry changes. All members have to speak the version.
func (s Spread) Encode(from ID, version uint64) map[string][]byte {
	all := map[string][]byte{}
	for key, entry := range s.change.entries() {
		all[key] = encode(envelope{from: from.Incarnation, msg: tablePush{From: from, Table: entry.pack()}, version: version})
	}
	return all
}

// A Snapshot is the whole table of a machine at one moment. It does not change.
type Snapshot struct{ push tablePush }

// Encode returns the table as a message. All members have to speak the version.
func (s Snapshot) Encode(version uint64) []byte {
	return encode(envelope{from: s.push.From.Incarnation, msg: s.push, version: version})
}

// Snapshot returns the current table.
func (m *Machine) Snapshot() Snapshot {
	return Snapshot{tablePush{From: m.self, Whole: true, Table: m.table.pack()}}
}
