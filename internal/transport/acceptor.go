package transport

import (
	"errors"
	"fmt"
	"math"
	"net"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/remote"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/transport/wire"
)

// Accepting may fail for instance when no file descriptors are left.
const (
	minAcceptPause = 5 * time.Millisecond
	maxAcceptPause = time.Second
)

var (
	errUntaken = errors.New("no receiver takes stream connections")
	errBusy    = errors.New("the connection before this one is still being read")
	errHungUp  = errors.New("hung up")
)

// An acceptor serves the connections that peers have opened, and those that an outbound endpoint
// has opened for them.
type acceptor struct {
	*localNode
	listener        net.Listener // nil with Config.Outbound
	unauthenticated unauthenticated
	refusals        rateLimit // of peers that were refused
	warnings        rateLimit // of other unauthenticated peers
	refused         refusalCount
	conns           conns
	sessions        sessions
	openers         *openers
	replaced        func(addr string) // a peer has opened a connection instead of one that it has lost
	streams         chan net.Conn

	system  atomic.Pointer[actor.System]
	serving chan struct{} // closed by Serve
}

func (a *acceptor) acceptAll() {
	for failures := 0; ; {
		conn, err := a.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			failures++
			a.log.Warn("cannot accept connections", zap.Error(err))
			if !sleep(a.closing, backoff(failures, minAcceptPause, maxAcceptPause)) {
				return
			}
		default:
			failures = 0
			a.acceptUnauthenticated(asSocket(conn))
		}
	}
}

func (a *acceptor) acceptUnauthenticated(conn net.Conn) {
	x := a.unauthenticated.enter(conn)
	if x == nil {
		a.refused.tooMany.Add(1)
		a.log.Debug("connection not taken", zap.Stringer("remote_address", conn.RemoteAddr()))
		discard(conn)
		return
	}
	a.tasks.Go(func() { a.serve(x) })
}

func (a *acceptor) serve(x *unauthenticatedConn) {
	defer a.unauthenticated.leave(x)
	conn := x.conn
	if !a.conns.add(conn) {
		discard(conn)
		return
	}
	kept, err := a.demultiplex(x)
	a.conns.remove(conn)
	if !kept {
		discard(conn)
	}
	a.logEnd(conn, err)
}

// The line is a warning only if somebody must act.
func (a *acceptor) logEnd(conn net.Conn, err error) {
	a.refused.ended(err)
	var allowed, last bool
	switch _, refused := errors.AsType[*refusal](err); {
	case refused:
		allowed, last = a.refusals.take()
	case errors.Is(err, remote.ErrFrame), errors.Is(err, remote.ErrNotAuthenticated), errors.Is(err, errUntaken):
		allowed, last = a.warnings.take()
	}
	level, fields := zap.DebugLevel, []zap.Field{zap.Stringer("remote_address", conn.RemoteAddr()), zap.Error(err)}
	if allowed {
		level = zap.WarnLevel
	}
	if last {
		fields = append(fields, zap.String("next", "further warnings of this minute are not logged"))
	}
	a.log.Log(level, "connection closed", fields...)
}

// kept says whether the connection has a new owner.
func (a *acceptor) demultiplex(x *unauthenticatedConn) (kept bool, err error) {
	conn := x.conn
	if err := conn.SetDeadline(time.Now().Add(a.cfg.HandshakeTimeout)); err != nil {
		return false, err
	}
	begin, err := readBegin(conn)
	if err != nil {
		return false, err
	}
	switch {
	case a.authenticator != nil:
		if conn, begin, err = a.secure(conn, begin); err != nil {
			return false, err
		}
	case isTLS(begin):
		return false, a.sendRefusal(conn, refuse(remote.RefusedIdentity, "it has neither certificates nor a secret"))
	}
	l, err := readPreface(conn, begin)
	if err != nil {
		return false, err
	}
	switch l {
	case channelControl, channelUser:
		return false, a.receive(x, conn, l)
	case channelStream:
		err := a.receiveStream(x, conn)
		return err == nil, err
	case channelReverse:
		return a.keepReverseConn(x, conn)
	default:
		return false, fmt.Errorf("%w: %v", remote.ErrFrame, l)
	}
}

// secure returns the first bytes after TLS. A peer without TLS is told only that TLS is required.
func (a *acceptor) secure(conn net.Conn, begin []byte) (net.Conn, []byte, error) {
	if string(begin) == tlsTooLong {
		return nil, nil, a.demandTLS(conn, begin)
	}
	secure, err := a.authenticator.accepted(conn, begin)
	if err != nil {
		return nil, nil, err
	}
	begin, err = readBegin(secure)
	return secure, begin, err
}

// demandTLS answers on channels whose hello is answered.
func (n *localNode) demandTLS(conn net.Conn, begin []byte) error {
	l, err := readPreface(conn, begin)
	if err != nil {
		return err
	}
	no := refuse(remote.RefusedIdentity, "TLS is required; set certificates, or the secret")
	if l != channelControl && l != channelUser && l != channelReverse {
		return no
	}
	if _, err := wire.ReadFrame(conn, maxHandshake); err != nil {
		return err
	}
	return errors.Join(no, n.sendAnswer(conn, answer{Refusal: no.reason, Detail: no.detail}))
}

// The receiver of StreamConns owns the connection then.
func (a *acceptor) handOver(conn net.Conn) error {
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	timer := time.NewTimer(a.cfg.HandshakeTimeout)
	defer timer.Stop()
	select {
	case a.streams <- conn:
		return nil
	case <-timer.C:
		return errUntaken
	case <-a.closing:
		return remote.ErrClosed
	}
}

func (a *acceptor) receive(x *unauthenticatedConn, conn net.Conn, l channel) error {
	h, err := readHello(conn)
	var with agreement
	if err == nil {
		with, err = a.validate(conn, l, h)
	}
	if err != nil {
		return a.sendRefusal(conn, err)
	}
	a.unauthenticated.leave(x)
	in, err := a.begin(conn, l, h, with)
	if err != nil {
		return a.sendRefusal(conn, err)
	}
	defer a.sessions.finish(in)
	if err := a.answer(in); err != nil {
		return err
	}
	err = a.readChannel(in)
	if errors.Is(err, remote.ErrFrame) {
		a.sessions.invalidate(in) // the next connection would bring the same frames again
	}
	return err
}

// The connection before it is no longer read.
func (a *acceptor) begin(conn net.Conn, l channel, h hello, with agreement) (*inbound, error) {
	in := &inbound{
		key:      linkKey{h.Addr, l},
		from:     h.peer(),
		agreed:   with,
		session:  h.Session,
		conn:     conn,
		patience: a.cfg.UnreachableAfter,
		idle:     2 * min(a.cfg.IdleAfter, math.MaxInt64/4), // the peer closes an idle connection earlier
		stop:     make(chan struct{}),
		done:     make(chan struct{}),
		frames:   wire.NewFrameReader(conn, maxFrame(l, a.cfg.MaxMessage)),
		arrivals: arrivals{total: &traffic{}, node: a.received.of(l)},
	}
	timer := time.NewTimer(a.cfg.HandshakeTimeout)
	defer timer.Stop()
	for lost := h.Want != 0; ; {
		before, err := a.sessions.begin(in, h.Want != 0)
		if err != nil {
			return nil, err
		}
		if before == nil {
			if lost {
				a.replaced(h.Addr)
			}
			return in, nil
		}
		lost = true
		before.hangUp()
		select {
		case <-before.done:
		case <-timer.C:
			return nil, errBusy
		}
	}
}

// answer closes connections with other incarnations at the peer's address.
func (a *acceptor) answer(in *inbound) error {
	yes := in.agreed.answer(answer{Incarnation: a.incarnation.Load(), Received: in.received, Addr: a.addr})
	if a.authenticator != nil && in.key.channel == channelControl {
		grant, err := a.openers.grant(in)
		if err != nil {
			return err
		}
		yes.Grant = grant
	}
	if err := a.sendAnswer(in.conn, yes); err != nil {
		return err
	}
	if err := in.conn.SetReadDeadline(time.Now().Add(in.idle)); err != nil {
		return err
	}
	a.met(in.from, in.agreed)
	return nil
}

func (a *acceptor) readChannel(in *inbound) error {
	if in.key.channel == channelControl {
		return in.read(func(body []byte) { a.cfg.Control(in.from, append([]byte(nil), body...)) }, func() {}, func() bool { return false })
	}
	select {
	case <-a.serving:
	case <-in.stop:
		return errHungUp
	case <-a.closing:
		return remote.ErrClosed
	}
	return newReceiver(a.localNode, a.system.Load(), in).read()
}

// A client does not take part in membership.
func (a *acceptor) receiveStream(x *unauthenticatedConn, conn net.Conn) error {
	h, err := readHello(conn)
	if err != nil {
		return err
	}
	if _, err := a.authenticate(conn, channelStream, h); err != nil {
		return err
	}
	if a.authenticator != nil {
		a.unauthenticated.leave(x)
	}
	return a.handOver(withCloseNotify(conn))
}

// The connection is kept until there is something to send to the peer that has opened it. kept says
// whether another part of the endpoint owns it now.
func (a *acceptor) keepReverseConn(x *unauthenticatedConn, conn net.Conn) (kept bool, err error) {
	h, err := readHello(conn)
	if err == nil && !isOutbound(h.Addr) {
		err = refuse(remote.RefusedHello, "%s can be dialled", h.Addr)
	}
	var with agreement
	if err == nil {
		with, err = a.validate(conn, channelReverse, h)
	}
	if err != nil {
		return false, a.sendRefusal(conn, err)
	}
	a.unauthenticated.leave(x)
	if err := a.sendAnswer(conn, with.answer(answer{Incarnation: a.incarnation.Load(), Addr: a.addr})); err != nil {
		return false, err
	}
	return a.reverseConns.wait(h.Addr, conn)
}

func (a *acceptor) receiveReverse(conn net.Conn, first byte) {
	defer discard(conn)
	if !a.conns.add(conn) {
		return
	}
	defer a.conns.remove(conn)
	err := conn.SetDeadline(time.Now().Add(a.cfg.HandshakeTimeout))
	if err == nil {
		err = a.receiveUser(conn, first)
	}
	a.logEnd(conn, err)
}

// The channel has to be one of messages.
func (a *acceptor) receiveUser(conn net.Conn, first byte) error {
	begin, err := readBeginAfter(conn, first)
	if err != nil {
		return err
	}
	l, err := readPreface(conn, begin)
	switch {
	case err != nil:
		return err
	case l != channelUser:
		return fmt.Errorf("%w: %v", remote.ErrFrame, l)
	}
	return a.receive(nil, conn, l)
}
