package remote

import (
	"errors"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/remote/internal/wire"
)

// Pauses between failures to accept a connection, for instance when no file descriptors are left.
const (
	minAcceptPause = 5 * time.Millisecond
	maxAcceptPause = time.Second
)

var (
	errUntaken = errors.New("nobody takes stream connections")
	errBusy    = errors.New("the connection before this one is still being read")
	errHungUp  = errors.New("hung up")
)

// acceptAll accepts connections until the listener is closed.
func (e *Endpoint) acceptAll() {
	for failures := 0; ; {
		conn, err := e.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			failures++
			e.log.Warn("cannot accept connections", zap.Error(err))
			if !sleep(e.closing, backoff(failures, minAcceptPause, maxAcceptPause)) {
				return
			}
		default:
			failures = 0
			e.acceptUnauthenticated(conn)
		}
	}
}

// acceptUnauthenticated begins to serve a connection, unless there are too many already.
func (e *Endpoint) acceptUnauthenticated(conn net.Conn) {
	x := e.unauthenticated.enter(conn)
	if x == nil {
		e.log.Debug("connection not taken", zap.Stringer("remote_address", conn.RemoteAddr()))
		discard(conn)
		return
	}
	e.tasks.Go(func() { e.serve(x) })
}

// serve reads what a connection is for, and serves it until it ends.
func (e *Endpoint) serve(x *unauthenticatedConn) {
	defer e.unauthenticated.leave(x)
	conn := x.conn
	if !e.conns.add(conn) {
		discard(conn)
		return
	}
	kept, err := e.demultiplex(x)
	e.conns.remove(conn)
	if !kept {
		discard(conn)
	}
	e.logEnd(conn, err)
}

// logEnd logs why a connection has ended, as a warning only if somebody must act.
func (e *Endpoint) logEnd(conn net.Conn, err error) {
	level := zap.DebugLevel
	_, refused := errors.AsType[*refusal](err)
	loud := refused || errors.Is(err, ErrFrame) || errors.Is(err, ErrNotAuthenticated) || errors.Is(err, errUntaken)
	if loud && e.warnings.take() {
		level = zap.WarnLevel
	}
	e.log.Log(level, "connection closed", zap.Stringer("remote_address", conn.RemoteAddr()), zap.Error(err))
}

// demultiplex serves a connection by its channel. It returns whether the connection has a new
// owner.
func (e *Endpoint) demultiplex(x *unauthenticatedConn) (kept bool, err error) {
	conn := x.conn
	if err := conn.SetDeadline(time.Now().Add(e.cfg.HandshakeTimeout)); err != nil {
		return false, err
	}
	begin, err := readBegin(conn)
	if err != nil {
		return false, err
	}
	switch {
	case e.authenticator != nil:
		if conn, begin, err = e.secure(conn, begin); err != nil {
			return false, err
		}
	case isTLS(begin):
		return false, e.sendRefusal(conn, refuse(RefusedIdentity, "this node has neither certificates nor a secret"))
	}
	l, err := readPreface(conn, begin)
	if err != nil {
		return false, err
	}
	switch l {
	case channelControl, channelUser:
		return false, e.receive(x, conn, l)
	case channelStream:
		err := e.receiveStream(x, conn)
		return err == nil, err
	case channelReverse:
		return e.keepReverseConn(x, conn)
	default:
		return false, fmt.Errorf("%w: %v", ErrFrame, l)
	}
}

// secure authenticates the peer by TLS, and returns the first bytes after that. A peer without TLS
// is told only that TLS is required.
func (e *Endpoint) secure(conn net.Conn, begin []byte) (net.Conn, []byte, error) {
	if string(begin) == tlsTooLong {
		return nil, nil, demandTLS(conn, begin)
	}
	secure, err := e.authenticator.accepted(conn, begin)
	if err != nil {
		return nil, nil, err
	}
	begin, err = readBegin(secure)
	return secure, begin, err
}

// demandTLS answers the hello of a peer without TLS, on channels whose hello is answered.
func demandTLS(conn net.Conn, begin []byte) error {
	l, err := readPreface(conn, begin)
	if err != nil {
		return err
	}
	no := refuse(RefusedIdentity, "TLS is required; set certificates, or the secret")
	if l != channelControl && l != channelUser && l != channelReverse {
		return no
	}
	if _, err := wire.ReadFrame(conn, maxHandshake); err != nil {
		return err
	}
	return errors.Join(no, sendAnswer(conn, answer{Refusal: no.reason, Detail: no.detail}))
}

// handOver passes a connection of memberlist's to the receiver of StreamConns.
func (e *Endpoint) handOver(conn net.Conn) error {
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	timer := time.NewTimer(e.cfg.HandshakeTimeout)
	defer timer.Stop()
	select {
	case e.streams <- conn:
		return nil
	case <-timer.C:
		return errUntaken
	case <-e.closing:
		return ErrClosed
	}
}

// receive does the handshake and reads the frames of a channel until the connection ends.
func (e *Endpoint) receive(x *unauthenticatedConn, conn net.Conn, l channel) error {
	body, err := wire.ReadFrame(conn, maxHandshake)
	if err != nil {
		return err
	}
	h, err := parseHello(body)
	if err == nil {
		err = e.validate(conn, l, h)
	}
	if err != nil {
		return e.sendRefusal(conn, err)
	}
	e.unauthenticated.leave(x)
	in, err := e.begin(conn, l, h)
	if err != nil {
		return e.sendRefusal(conn, err)
	}
	defer e.sessions.finish(in)
	if err := e.answer(in); err != nil {
		return err
	}
	err = e.readChannel(in)
	if errors.Is(err, ErrFrame) {
		e.sessions.invalidate(in) // the next connection would bring the same frames again
	}
	return err
}

// authenticate checks that a hello comes from the peer that it names, and is for our cluster.
func (e *Endpoint) authenticate(conn net.Conn, l channel, h hello) error {
	if isOutbound(h.Addr) {
		if l == channelControl || l == channelStream {
			return refuse(RefusedMember, "%s is no node", h.Addr)
		}
	} else if e.authenticator != nil {
		if err := e.authenticator.identify(conn, h.Addr); err != nil {
			return refuse(RefusedIdentity, "your certificate is not for the address that you advertise: %v", err)
		}
	}
	if h.Cluster != e.cfg.Cluster {
		return refuse(RefusedCluster, "this is %q, not %q", e.cfg.Cluster, h.Cluster)
	}
	return nil
}

// validate checks that a well-formed hello is welcome.
func (e *Endpoint) validate(conn net.Conn, l channel, h hello) error {
	if err := e.authenticate(conn, l, h); err != nil {
		return err
	}
	if mine := e.incarnation.Load(); h.Want != 0 && h.Want != mine {
		return refuse(RefusedIncarnation, "incarnation %d is gone, this is %d", h.Want, mine)
	}
	if err := e.admit(h.peer(), l); err != nil {
		return refuse(RefusedMember, "%v", err)
	}
	return nil
}

// admit asks the user's functions about a peer on a channel.
func (e *Endpoint) admit(p NodeID, l channel) error {
	if err := e.cfg.Admit(p); err != nil || l != channelUser {
		return err
	}
	return e.cfg.AdmitMessages(p)
}

// sendRefusal sends a refusal to the dialer. It returns the refusal, joined with the error of
// sending.
func (e *Endpoint) sendRefusal(conn net.Conn, reason error) error {
	no, ok := errors.AsType[*refusal](reason)
	if !ok {
		return reason
	}
	a := answer{Incarnation: e.incarnation.Load(), Refusal: no.reason, Detail: no.detail}
	if no.reason == RefusedIncarnation {
		a.Addr = e.addr
	}
	if err := sendAnswer(conn, a); err != nil {
		return errors.Join(reason, err)
	}
	return reason
}

// begin starts an inbound, once the connection before it is no longer read.
func (e *Endpoint) begin(conn net.Conn, l channel, h hello) (*inbound, error) {
	in := &inbound{
		key:      linkKey{h.Addr, l},
		from:     h.peer(),
		session:  h.Session,
		conn:     conn,
		patience: e.cfg.UnreachableAfter,
		idle:     e.cfg.silence(),
		stop:     make(chan struct{}),
		done:     make(chan struct{}),
		frames:   wire.NewFrameReader(conn, maxFrame(l, e.cfg.MaxMessage)),
	}
	timer := time.NewTimer(e.cfg.HandshakeTimeout)
	defer timer.Stop()
	for {
		before, err := e.sessions.begin(in, h.Want != 0)
		if err != nil {
			return nil, err
		}
		if before == nil {
			return in, nil
		}
		before.hangUp()
		select {
		case <-before.done:
		case <-timer.C:
			return nil, errBusy
		}
	}
}

// answer accepts the peer, and closes connections with other incarnations at its address.
func (e *Endpoint) answer(in *inbound) error {
	a := answer{Incarnation: e.incarnation.Load(), Received: in.received, Addr: e.addr}
	if e.authenticator != nil && in.key.channel == channelControl {
		grant, err := e.openers.grant(in)
		if err != nil {
			return err
		}
		a.Grant = grant
	}
	if err := sendAnswer(in.conn, a); err != nil {
		return err
	}
	if err := in.conn.SetReadDeadline(time.Now().Add(in.idle)); err != nil {
		return err
	}
	e.met(in.from)
	return nil
}

func (e *Endpoint) readChannel(in *inbound) error {
	if in.key.channel == channelControl {
		return in.read(func(body []byte) { e.cfg.Control(in.from, append([]byte(nil), body...)) }, func() {})
	}
	select {
	case <-e.serving:
	case <-in.stop:
		return errHungUp
	case <-e.closing:
		return ErrClosed
	}
	r := newReceiver(e, in)
	return in.read(r.receive, r.deliver)
}
