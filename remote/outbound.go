package remote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
)

// An endpoint with [Config.Outbound] does not listen. It opens connections over which peers send
// to it: after a handshake on a reverse channel, the connection waits until the listener has
// something to send. Meanwhile pings tell both sides that the other is alive. From then on the
// connection works like one that the listener has dialed.

// outboundHost is the suffix of the made-up hosts of outbound endpoints. RFC 2606 reserves it.
const outboundHost = ".client.invalid"

// outboundAddr returns a unique made-up address.
func outboundAddr() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:]) + outboundHost + ":1"
}

// isOutbound reports whether an address belongs to an outbound endpoint, which cannot be dialed.
func isOutbound(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && strings.HasSuffix(host, outboundHost)
}

// listenNowhere makes an endpoint without a listener.
func listenNowhere(cfg Config) (*Endpoint, error) {
	if cfg.Advertise != "" {
		return nil, errors.New("remote: Config.Advertise is set with Outbound; an endpoint that does not listen has no address for others to dial, leave it out")
	}
	authenticator, err := newAuthenticator(cfg)
	if err != nil {
		return nil, err
	}
	return newEndpoint(cfg, authenticator, outboundAddr()), nil
}

// A reverseDialer keeps the connections of an outbound endpoint to its peers.
type reverseDialer struct {
	ctx context.Context // ends with the endpoint
	end context.CancelFunc

	mu    sync.Mutex // guards all below
	peers map[string]context.CancelFunc
	wait  map[net.Conn]NodeID // connections that wait, and the peer of each
}

func newReverseDialer() *reverseDialer {
	ctx, end := context.WithCancel(context.Background())
	return &reverseDialer{ctx: ctx, end: end, peers: map[string]context.CancelFunc{}, wait: map[net.Conn]NodeID{}}
}

func (r *reverseDialer) enter(conn net.Conn, with NodeID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wait[conn] = with
}

func (r *reverseDialer) leave(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.wait, conn)
}

// met closes the waiting connections with other incarnations of a peer. keepReverse opens others.
func (r *reverseDialer) met(p NodeID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn, with := range r.wait {
		if with.Address == p.Address && with.Incarnation != p.Incarnation {
			discard(conn)
		}
	}
}

// Reach sets the endpoints that may have to send to this one, which must be [Config.Outbound];
// otherwise Reach panics. The endpoint keeps a connection open to each address, and retries after
// failures with pauses that grow to [Config.MaxBackoff]. Connections to addresses that are no
// longer given are closed once what is in flight has arrived. Reach does not block.
func (e *Endpoint) Reach(addrs []string) {
	if !e.cfg.Outbound {
		panic("remote: Reach is for endpoints with Config.Outbound; others can be dialled")
	}
	r := e.reverseDialer
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.peers
	r.peers = make(map[string]context.CancelFunc, len(addrs))
	for _, addr := range addrs {
		if r.peers[addr] != nil {
			continue
		}
		cancel := before[addr]
		delete(before, addr)
		if cancel == nil {
			cancel = e.reach(addr)
		}
		r.peers[addr] = cancel
	}
	for _, cancel := range before {
		cancel()
	}
}

// reach begins to keep a connection. The caller holds reaching.mu.
func (e *Endpoint) reach(addr string) context.CancelFunc {
	ctx, cancel := context.WithCancel(e.reverseDialer.ctx)
	if ctx.Err() == nil {
		e.tasks.Go(func() { e.keepReverse(ctx, addr) })
	}
	return cancel
}

// keepReverse keeps one waiting connection open until ctx ends. It pauses after a failure, and when
// the peer takes one connection right after the other.
func (e *Endpoint) keepReverse(ctx context.Context, addr string) {
	log := e.log.With(zap.String("peer", addr), zap.Stringer("channel", channelReverse))
	for failures := 0; ctx.Err() == nil; {
		begin := time.Now()
		err := e.waitReverse(ctx, addr)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && time.Since(begin) > e.cfg.MaxBackoff:
			failures = 0
			continue
		}
		failures++
		if err != nil {
			if failures == 1 {
				log.Info("no connection for what the peer sends", zap.Error(err))
			}
			e.cfg.DialFailed(addr, err)
		}
		sleep(ctx.Done(), backoff(failures, e.cfg.MinBackoff, e.cfg.MaxBackoff))
	}
}

// waitReverse opens a connection and waits until the peer has something to send, which is
// received in a goroutine of its own.
func (e *Endpoint) waitReverse(ctx context.Context, addr string) error {
	conn, peer, err := e.openReverse(ctx, addr)
	if err != nil {
		return err
	}
	e.reverseDialer.enter(conn, peer)
	e.met(peer)
	stop := context.AfterFunc(ctx, func() { discard(conn) })
	first, err := awaitChannel(conn)
	e.reverseDialer.leave(conn)
	if !stop() || err != nil {
		discard(conn)
		return errors.Join(ctx.Err(), err)
	}
	e.tasks.Go(func() { e.receiveReverse(conn, first) })
	return nil
}

// openReverse dials and shakes hands. The peer that answers may advertise another address.
func (e *Endpoint) openReverse(ctx context.Context, addr string) (net.Conn, NodeID, error) {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.DialTimeout)
	defer cancel()
	conn, err := e.dial(ctx, addr)
	if err != nil {
		return nil, NodeID{}, err
	}
	stop := context.AfterFunc(ctx, func() { discard(conn) })
	a, err := greet(conn, channelReverse, hello{Version: Version, Cluster: e.cfg.Cluster, Addr: e.addr, Incarnation: e.incarnation.Load()}, addr)
	switch {
	case stop():
	case err == nil:
		err = ctx.Err()
	default:
		err = cutShort(ctx, err)
	}
	if err == nil && e.authenticator != nil {
		err = e.identify(conn, a.Addr)
	}
	if err != nil {
		discard(conn)
		return nil, NodeID{}, err
	}
	return conn, a.peer(), nil
}

func (e *Endpoint) identify(conn net.Conn, addr string) error {
	if err := e.authenticator.identify(conn, addr); err != nil {
		return fmt.Errorf("%w: the node advertises %s, for which its certificate is not: %w", ErrNotAuthenticated, addr, err)
	}
	return nil
}

// Greet connects to addr, which may be one of several addresses of a node, and returns the ID of
// the peer, with the address that it advertises. It fails with a [*RefusedError], with
// [ErrNotAuthenticated], or with another error that prevents the connection. It is for endpoints
// with [Config.Outbound].
func (e *Endpoint) Greet(ctx context.Context, addr string) (NodeID, error) {
	conn, peer, err := e.openReverse(ctx, addr)
	if err != nil {
		return NodeID{}, err
	}
	discard(conn)
	return peer, nil
}

// receiveReverse receives what the peer sends on a connection that this endpoint has opened.
func (e *Endpoint) receiveReverse(conn net.Conn, first byte) {
	defer discard(conn)
	if !e.conns.add(conn) {
		return
	}
	defer e.conns.remove(conn)
	err := conn.SetDeadline(time.Now().Add(e.cfg.HandshakeTimeout))
	if err == nil {
		err = e.receiveUser(conn, first)
	}
	e.logEnd(conn, err)
}

// receiveUser receives on a channel that has to be of messages.
func (e *Endpoint) receiveUser(conn net.Conn, first byte) error {
	begin, err := readBeginAfter(conn, first)
	if err != nil {
		return err
	}
	l, err := readPreface(conn, begin)
	switch {
	case err != nil:
		return err
	case l != channelUser:
		return fmt.Errorf("%w: %v", ErrFrame, l)
	}
	return e.receive(nil, conn, l)
}
