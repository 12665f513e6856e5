package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"time"

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/protocol"
)

// The first byte of a datagram says which protocol it belongs to.
const (
	packetUser   = 'U' // ours, with a header
	packetGossip = 'M' // memberlist's, which has a header of its own
)

const maxPacket = 65507

// packetFixed is the size without the address.
const packetFixed = 1 + 1 + 8 + 8 + 1

// A Packet is a datagram of memberlist's protocol.
type Packet struct {
	From net.Addr  // the address that the socket reports
	Data []byte    // the receiver may keep and change it
	Time time.Time // when it arrived
}

// The header is: tag, version, hash of the cluster name, incarnation, and the address with its
// length.
func appendPacketHeader(buf []byte, version byte, cluster uint64, from remote.NodeID) []byte {
	buf = append(buf, packetUser, version)
	buf = binary.BigEndian.AppendUint64(buf, cluster)
	buf = binary.BigEndian.AppendUint64(buf, from.Incarnation)
	buf = append(buf, byte(len(from.Address)))
	return append(buf, from.Address...)
}

// The datagram is in one of the versions that this node speaks. The hash of the cluster's name has
// the same place in all versions.
func parsePacket(b []byte, speaks protocol.Range, cluster uint64) (remote.NodeID, []byte, error) {
	switch {
	case len(b) < packetFixed || b[0] != packetUser:
		return remote.NodeID{}, nil, fmt.Errorf("%w: not a packet", remote.ErrFrame)
	case b[1]&packetSealed != 0:
		return remote.NodeID{}, nil, fmt.Errorf("%w: sealed packet, and this node has neither certificates nor a secret", remote.ErrFrame)
	case binary.BigEndian.Uint64(b[2:]) != cluster:
		return remote.NodeID{}, nil, fmt.Errorf("%w: packet of another cluster", remote.ErrFrame)
	case !speaks.Has(uint64(b[1])):
		return remote.NodeID{}, nil, &packetVersionError{b[1]}
	}
	from := remote.NodeID{Incarnation: binary.BigEndian.Uint64(b[10:])}
	end := packetFixed + int(b[packetFixed-1])
	if len(b) < end || end == packetFixed || from.Incarnation == 0 {
		return remote.NodeID{}, nil, fmt.Errorf("%w: packet without a sender", remote.ErrFrame)
	}
	from.Address = string(b[packetFixed:end])
	return from, b[end:], nil
}

type packetVersionError struct{ version byte }

func (e *packetVersionError) Error() string { return fmt.Sprintf("packet of version %d", e.version) }

func (e *packetVersionError) Unwrap() error { return remote.ErrFrame }

func clusterHash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash never fails
	return h.Sum64()
}

type packets struct {
	*localNode
	socket  net.PacketConn
	cluster uint64 // hash of its name
	gossip  chan Packet
	sealers sealers
	openers openers

	openControl  func(addr string) error // opens the control channel to a peer
	renewControl func(addr string)       // gives it a new connection
}

// gossipQueue is how many memberlist packets wait to be taken.
const gossipQueue = 256

// SendPacket sends data to the [Config.Control] of the endpoint at addr in one datagram, which may
// be lost, duplicated or reordered. It does not block.
func (e *Endpoint) SendPacket(addr string, data []byte) { e.packets.sendControl(addr, data) }

// WritePacket sends a datagram of memberlist's protocol to the endpoint at addr. It does not
// block. A lost datagram is no error.
func (e *Endpoint) WritePacket(data []byte, addr string) error {
	return e.packets.sendGossip(addr, data)
}

// Packets returns the datagrams of memberlist's protocol. If they are not received in time, they
// are dropped. The channel is never closed.
func (e *Endpoint) Packets() <-chan Packet { return e.packets.gossip }

func (p *packets) sendControl(addr string, data []byte) {
	if p.authenticator != nil {
		p.sendSealed(packetUser, addr, data)
		return
	}
	buf := make([]byte, 0, packetFixed+len(p.addr)+len(data))
	p.send(addr, append(appendPacketHeader(buf, p.versionFor(addr), p.cluster, p.self()), data...))
}

// Without a key the datagram is dropped, and the control channel is opened, on which the peer
// grants one. When a key is worn out, a new connection brings the next one.
func (p *packets) sendSealed(tag byte, addr string, data []byte) {
	if s := p.sealers.of(addr); s != nil {
		if sealed := s.seal(tag, data); sealed != nil {
			p.send(addr, sealed)
		} else if p.sealers.removeWorn(addr, s) {
			p.renewControl(addr)
		}
		return
	}
	if err := p.openControl(addr); err != nil {
		p.log.Debug("packet not sent", zap.String("peer", addr), zap.Error(err))
	}
}

func (p *packets) send(addr string, b []byte) {
	if p.cfg.Outbound || isOutbound(addr) {
		return // such an endpoint has no datagrams
	}
	if _, err := p.socket.WriteTo(b, hostport(addr)); err != nil {
		p.log.Debug("packet not sent", zap.String("peer", addr), zap.Error(err))
	}
}

func (p *packets) sendGossip(addr string, data []byte) error {
	if p.cfg.Outbound || isOutbound(addr) {
		return nil // such an endpoint has no datagrams
	}
	if p.authenticator != nil {
		p.sendSealed(packetGossip, addr, data)
		return nil
	}
	buf := append(make([]byte, 0, 1+len(data)), packetGossip)
	_, err := p.socket.WriteTo(append(buf, data...), hostport(addr))
	return err
}

func (p *packets) readAll() {
	buf := make([]byte, maxPacket)
	for failures := 0; ; {
		count, from, err := p.socket.ReadFrom(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			failures++
			p.log.Warn("packet not received", zap.Error(err))
			if !sleep(p.closing, backoff(failures, minAcceptPause, maxAcceptPause)) {
				return
			}
		default:
			failures = 0
			p.receive(from, buf[:count])
		}
	}
}

// As such a datagram proves no sender, all count as one kind from one peer.
const packetUnknown = "datagram of another version"

func (p *packets) skipPacket(source net.Addr, err *packetVersionError) {
	if p.skipped.Add(packetUnknown, "") {
		p.log.Warn("datagrams of another version are dropped; later ones are not logged", zap.Stringer("remote_address", source), zap.Error(err))
	}
}

func (p *packets) receive(source net.Addr, b []byte) {
	var from remote.NodeID
	var data []byte
	var err error
	gossip := len(b) > 0 && b[0] == packetGossip
	switch {
	case p.authenticator != nil:
		from, data, err = p.openers.open(b)
	case gossip:
		data = b[1:]
	default:
		from, data, err = parsePacket(b, p.cfg.versions, p.cluster)
	}
	if other, is := errors.AsType[*packetVersionError](err); is {
		p.skipPacket(source, other)
		return
	}
	if err != nil {
		p.log.Debug("packet dropped", zap.Stringer("remote_address", source), zap.Error(err))
		return
	}
	data = append([]byte(nil), data...)
	if !gossip {
		p.cfg.Control(from, data)
		return
	}
	select {
	case p.gossip <- Packet{From: source, Data: data, Time: time.Now()}:
	default:
	}
}
