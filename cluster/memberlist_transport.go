package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/hashicorp/memberlist"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// A memberlistTransport connects memberlist to the node's endpoint. It finds nodes by their
// memberlist name, "host:port#incarnation", which contains the address that they advertise. The IP
// addresses that memberlist requires have no meaning here.
type memberlistTransport struct {
	endpoint *transport.Endpoint
	packets  chan *memberlist.Packet
	streams  chan net.Conn
	stopping chan struct{}
	stop     sync.Once
	done     sync.WaitGroup
}

var _ memberlist.NodeAwareTransport = (*memberlistTransport)(nil)

func newMemberlistTransport(e *transport.Endpoint) *memberlistTransport {
	t := &memberlistTransport{
		endpoint: e,
		packets:  make(chan *memberlist.Packet),
		streams:  make(chan net.Conn),
		stopping: make(chan struct{}),
	}
	t.done.Go(t.receive)
	return t
}

func (t *memberlistTransport) receive() {
	for {
		select {
		case p, ok := <-t.endpoint.Packets():
			if !ok {
				return
			}
			t.receivePacket(p)
		case c, ok := <-t.endpoint.StreamConns():
			if !ok {
				return
			}
			t.receiveStream(c)
		case <-t.stopping:
			return
		}
	}
}

func (t *memberlistTransport) receivePacket(p transport.Packet) {
	select {
	case t.packets <- &memberlist.Packet{Buf: p.Data, From: p.From, Timestamp: p.Time}:
	case <-t.stopping:
	}
}

func (t *memberlistTransport) receiveStream(c net.Conn) {
	select {
	case t.streams <- c:
	case <-t.stopping:
		_ = c.Close() // nobody reads it any more
	}
}

// FinalAdvertiseAddr returns the advertised address. If its host is a name, the IP address is made
// from a hash of the name.
func (t *memberlistTransport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	host, port, err := net.SplitHostPort(t.endpoint.Addr())
	if err != nil {
		return nil, 0, fmt.Errorf("advertised address: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, 0, fmt.Errorf("advertised port: %w", err)
	}
	return numberOf(host), number, nil
}

func numberOf(host string) net.IP {
	if ip := net.ParseIP(host); ip != nil {
		return ip
	}
	h := fnv.New32a()
	h.Write([]byte(host))
	sum := h.Sum32()
	return net.IPv4(10, byte(sum>>16), byte(sum>>8), byte(sum)) //nolint:gosec // the bytes of a hash
}

func gossipName(address string, incarnation uint64) string {
	return address + "#" + strconv.FormatUint(incarnation, 16)
}

func parseGossipName(name string) (address string, incarnation uint64, ok bool) {
	address, uid, _ := strings.Cut(name, "#")
	incarnation, err := strconv.ParseUint(uid, 16, 64)
	id := remote.NodeID{Address: address, Incarnation: incarnation}
	return address, incarnation, err == nil && membership.CheckID(id) == nil && name == gossipName(address, incarnation)
}

func addressOf(a memberlist.Address) string {
	if address, _, ok := strings.Cut(a.Name, "#"); ok {
		return address
	}
	return a.Addr
}

// WriteToAddress sends a datagram. It returns no error if that fails: memberlist expects datagrams
// to be lost, and would take an error for a fault of this node.
func (t *memberlistTransport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	_ = t.endpoint.WritePacket(b, addressOf(a))
	return time.Now(), nil
}

func (t *memberlistTransport) WriteTo(b []byte, addr string) (time.Time, error) {
	return t.WriteToAddress(b, memberlist.Address{Addr: addr})
}

// DialAddressTimeout opens a stream. It sets a deadline at once, because memberlist does not always
// set one.
func (t *memberlistTransport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	c, err := t.endpoint.DialStream(ctx, addressOf(a))
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err} // so memberlist blames the peer
	}
	if err := c.SetDeadline(time.Now().Add(streamLimit)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// streamLimit is the deadline of one exchange of whole states.
const streamLimit = 10 * time.Second

func (t *memberlistTransport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

func (t *memberlistTransport) PacketCh() <-chan *memberlist.Packet { return t.packets }

func (t *memberlistTransport) StreamCh() <-chan net.Conn { return t.streams }

// Shutdown ends the transport. The endpoint stays open; its owner closes it.
func (t *memberlistTransport) Shutdown() error {
	t.stop.Do(func() { close(t.stopping) })
	t.done.Wait()
	return nil
}
