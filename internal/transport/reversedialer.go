package transport

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

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"
)

// An endpoint with [Config.Outbound] does not listen. It opens connections over which peers send
// to it: after a handshake on a reverse channel, the connection waits until the listener has
// something to send. Meanwhile pings tell both sides that the other is alive. From then on the
// connection works like one that the listener has dialed.

// RFC 2606 reserves it.
const outboundHost = ".client.invalid"

func outboundAddr() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:]) + outboundHost + ":1"
}

// The address of an outbound endpoint cannot be dialed.
func isOutbound(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && strings.HasSuffix(host, outboundHost)
}

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

type reverseDialer struct {
	*localNode
	acceptor *acceptor       // receives what the peers send
	ctx      context.Context // ends with the endpoint
	end      context.CancelFunc

	mu    sync.Mutex // guards all below
	peers map[string]context.CancelFunc
	wait  map[net.Conn]remote.NodeID // connections that wait, and the peer of each
}

func newReverseDialer(n *localNode, a *acceptor) *reverseDialer {
	ctx, end := context.WithCancel(context.Background())
	return &reverseDialer{
		localNode: n, acceptor: a, ctx: ctx, end: end,
		peers: map[string]context.CancelFunc{}, wait: map[net.Conn]remote.NodeID{},
	}
}

func (r *reverseDialer) enter(conn net.Conn, with remote.NodeID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wait[conn] = with
}

func (r *reverseDialer) leave(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.wait, conn)
}

// keep opens others.
func (r *reverseDialer) replace(p remote.NodeID) {
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
	e.reverseDialer.reachAll(addrs)
}

func (r *reverseDialer) reachAll(addrs []string) {
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
			cancel = r.reach(addr)
		}
		r.peers[addr] = cancel
	}
	for _, cancel := range before {
		cancel()
	}
}

// mu is held.
func (r *reverseDialer) reach(addr string) context.CancelFunc {
	ctx, cancel := context.WithCancel(r.ctx)
	if ctx.Err() == nil {
		r.tasks.Go(func() { r.keep(ctx, addr) })
	}
	return cancel
}

// keep pauses after a failure, and when the peer takes one connection right after the other.
func (r *reverseDialer) keep(ctx context.Context, addr string) {
	log := r.log.With(zap.String("peer", addr), zap.Stringer("channel", channelReverse))
	for failures := 0; ctx.Err() == nil; {
		begin := time.Now()
		err := r.await(ctx, addr)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && time.Since(begin) > r.cfg.MaxBackoff:
			failures = 0
			continue
		}
		failures++
		if err != nil {
			if failures == 1 {
				log.Info("no connection for what the peer sends", zap.Error(err))
			}
			r.cfg.DialFailed(addr, err)
		}
		sleep(ctx.Done(), backoff(failures, r.cfg.MinBackoff, r.cfg.MaxBackoff))
	}
}

// What the peer sends is received in a goroutine of its own.
func (r *reverseDialer) await(ctx context.Context, addr string) error {
	conn, a, err := r.open(ctx, addr)
	if err != nil {
		return err
	}
	r.enter(conn, a.peer())
	r.met(a.peer(), a.agreed())
	stop := context.AfterFunc(ctx, func() { discard(conn) })
	first, err := awaitChannel(conn)
	r.leave(conn)
	if !stop() || err != nil {
		discard(conn)
		return errors.Join(ctx.Err(), err)
	}
	r.tasks.Go(func() { r.acceptor.receiveReverse(conn, first) })
	return nil
}

// The peer that answers may advertise another address.
func (r *reverseDialer) open(ctx context.Context, addr string) (net.Conn, answer, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.DialTimeout)
	defer cancel()
	conn, err := r.dial(ctx, addr)
	if err != nil {
		return nil, answer{}, err
	}
	stop := context.AfterFunc(ctx, func() { discard(conn) })
	a, err := greet(conn, channelReverse, r.hello(), addr)
	switch {
	case stop():
	case err == nil:
		err = ctx.Err()
	default:
		err = cutShort(ctx, err)
	}
	if err == nil {
		err = r.checkVersions(a)
	}
	if err == nil && r.authenticator != nil {
		err = r.identify(conn, a.Addr)
	}
	if err != nil {
		discard(conn)
		return nil, answer{}, err
	}
	return conn, a, nil
}

func (r *reverseDialer) identify(conn net.Conn, addr string) error {
	if err := r.authenticator.identify(conn, addr); err != nil {
		return fmt.Errorf("%w: the node advertises %s, for which its certificate is not: %w", remote.ErrNotAuthenticated, addr, err)
	}
	return nil
}

// Greet connects to addr, which may be one of several addresses of a node, and returns the ID of
// the peer, with the address that it advertises. It fails with a [*remote.RefusedError], with
// [remote.ErrNotAuthenticated], or with another error that prevents the connection. It is for
// endpoints with [Config.Outbound].
func (e *Endpoint) Greet(ctx context.Context, addr string) (remote.NodeID, error) {
	conn, a, err := e.reverseDialer.open(ctx, addr)
	if err != nil {
		return remote.NodeID{}, err
	}
	discard(conn)
	return a.peer(), nil
}
