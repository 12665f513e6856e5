package remote

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/internal/payload"
)

// Errors of this package. They are wrapped with details: compare them with [errors.Is].
var (
	// ErrClosed: the endpoint was closed while messages waited, which is normal when a node ends.
	ErrClosed = errors.New("remote: endpoint is closed")
	// ErrFrame: bytes on a connection violate the protocol. Look for a port scanner, or for a proxy
	// between the nodes.
	//
	// The connection is closed, unless the next frame can be found; then only the contents of the
	// frame become a dead letter.
	ErrFrame = errors.New("remote: malformed frame")
	// ErrTooLarge: the message is larger than MaxMessage, of the sender or of the receiver. Send a
	// reference, or parts with delivery.ChunkAbove, or raise the limit on all nodes:
	// Traffic.MaxMessage of cluster.Config.
	ErrTooLarge = errors.New("remote: message is too large")
	// ErrOutboxFull: too many messages wait for the peer: see Traffic.OutboxSize and OutboxBytes of
	// cluster.Config. It is slow or unreachable. Send no faster than it handles messages, by asks
	// or by package delivery.
	ErrOutboxFull = errors.New("remote: outbox is full")
	// ErrInDoubt: the message was sent and never acknowledged. It may have been handled. Let the
	// receiver acknowledge messages that matter: see docs/delivery.md.
	ErrInDoubt = errors.New("remote: sent, but not acknowledged")
	// ErrForeign: the listener at the address speaks another protocol, such as HTTP. Give the port
	// of Config.Bind, not of a web server or a proxy.
	ErrForeign = errors.New("remote: what listens there is no node of Understudy")
	// ErrNotAuthenticated: one side of a connection has not proved its identity to the other:
	// secrets differ, only one side has TLS, or a certificate is expired, of another authority, or
	// for another address.
	//
	// It is part of the reason of dead letters.
	ErrNotAuthenticated = errors.New("remote: not authenticated")
	// ErrPrivate: a client has sent to an actor that clients may not reach; see
	// ClientsReach of cluster.Config.
	ErrPrivate = errors.New("remote: clients may not reach this actor; the node's Config.ClientsReach says so")
)

// Refusal is the reason why a peer refused a connection.
type Refusal uint8

// The refusals. Later versions of the protocol may have others.
const (
	RefusedHello       Refusal = iota + 1 // the handshake was malformed
	RefusedVersion                        // the peer does not speak our version of the protocol
	RefusedCluster                        // the peer belongs to another cluster
	RefusedIncarnation                    // the incarnation that was expected is gone: another one is at the address
	RefusedSession                        // the peer does not know the session that was to continue
	RefusedMember                         // the peer does not admit this node now
	RefusedIdentity                       // TLS on one side only, or a certificate for another address
)

// String returns the reason in words, for logs and errors.
func (r Refusal) String() string {
	switch r {
	case RefusedHello:
		return "malformed handshake"
	case RefusedVersion:
		return "wrong protocol version"
	case RefusedCluster:
		return "wrong cluster"
	case RefusedIncarnation:
		return "wrong incarnation"
	case RefusedSession:
		return "unknown session"
	case RefusedMember:
		return "not admitted"
	case RefusedIdentity:
		return "not authenticated"
	}
	return fmt.Sprintf("refusal %d", uint8(r))
}

// A RefusedError reports that the peer refused a connection in the handshake, and why. After a
// restart, "wrong incarnation" and "unknown session" are normal: the node connects anew.
type RefusedError struct {
	Peer    NodeID // the peer at the dialed address; with RefusedIncarnation, at the address that it advertises
	Refusal Refusal
	Detail  string // in the peer's words
}

// Error returns the peer, the refusal and its detail.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("remote: refused by %s: %s: %s", e.Peer.Address, e.Refusal, e.Detail)
}

// Unwrap returns [ErrNotAuthenticated] for a [RefusedIdentity].
func (e *RefusedError) Unwrap() error {
	if e.Refusal == RefusedIdentity {
		return ErrNotAuthenticated
	}
	return nil
}

func init() {
	for name, err := range map[string]error{
		"understudy/remote.private":           ErrPrivate,
		"understudy/remote.closed":            ErrClosed,
		"understudy/remote.frame":             ErrFrame,
		"understudy/remote.too-large":         ErrTooLarge,
		"understudy/remote.outbox-full":       ErrOutboxFull,
		"understudy/remote.in-doubt":          ErrInDoubt,
		"understudy/remote.not-authenticated": ErrNotAuthenticated,
	} {
		payload.RegisterError(name, err)
	}
}
