package transport

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/understudy-go/understudy/remote"
)

type linkHandshake struct {
	*localNode
	key  linkKey
	conn net.Conn
}

// The key is the one that the peer has granted, if any. When ctx ends, the connection is closed.
func (h linkHandshake) do(ctx context.Context, mine hello) (answer, *sealer, error) {
	stop := context.AfterFunc(ctx, func() { discard(h.conn) })
	defer stop()
	a, err := greet(h.answers(), h.key.channel, mine, h.key.addr)
	if err == nil {
		err = h.checkVersions(a)
	}
	if err != nil {
		return a, nil, cutShort(ctx, err)
	}
	if err := h.checkIdentity(a); err != nil {
		return a, nil, err
	}
	if err := h.admit(a.peer(), h.key.channel); err != nil {
		return a, nil, fmt.Errorf("not admitted here: %w", err)
	}
	seal, err := h.sealer(a)
	if err == nil && !stop() {
		err = ctx.Err() // conn is closed, or about to be
	}
	return a, seal, err
}

// Pongs may come before the answer, which are left out.
func (h linkHandshake) answers() net.Conn {
	if isOutbound(h.key.addr) {
		return &skipPongs{Conn: h.conn}
	}
	return h.conn
}

// The connection was closed only because ctx ended.
func cutShort(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("no answer: %w", ctx.Err())
	}
	return err
}

// An attacker who redirects packets can make one node answer in place of another. On channels that
// are not strict a wrong node is noticed later, and a node may be dialed under several names.
func (h linkHandshake) checkIdentity(a answer) error {
	if h.authenticator == nil || a.Addr == h.key.addr {
		return nil
	}
	if h.strict(h.key) {
		return fmt.Errorf("the node that answers at %s advertises %s; its actors have to be addressed there", h.key.addr, a.Addr)
	}
	if err := h.authenticator.identify(h.conn, a.Addr); err != nil {
		return fmt.Errorf("%w: the node that answers at %s advertises %s, for which its certificate is not: %w", remote.ErrNotAuthenticated, h.key.addr, a.Addr, err)
	}
	return nil
}

// The sealer is nil without TLS.
func (h linkHandshake) sealer(a answer) (*sealer, error) {
	if h.authenticator == nil || h.key.channel != channelControl {
		return nil, nil
	}
	return newSealer(a.peer(), a.Version, a.Grant)
}
