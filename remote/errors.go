package remote

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/remote/internal/wire"
)

// What can go wrong on the way. Compare with [errors.Is]; they come wrapped with
// what was going on.
var (
	// ErrClosed is the reason of dead letters that a closed endpoint leaves behind.
	ErrClosed = errors.New("remote: endpoint is closed")
	// ErrFrame: bytes on a connection are not what the protocol has there. The
	// connection is closed, unless it is known where the next frame begins: then what is in
	// the frame becomes a dead letter.
	ErrFrame = wire.ErrFrame
	// ErrTooLarge: a frame is larger than [Config.MaxMessage]. At the sender it
	// becomes a dead letter, and so it does at a receiver with a lower one.
	ErrTooLarge = wire.ErrTooLarge
	// ErrOutboxFull: too much was waiting for the peer already. The reason of dead
	// letters.
	ErrOutboxFull = errors.New("remote: outbox is full")
	// ErrInDoubt: the message was sent, and the peer never said that it has it. Part of the
	// reason of dead letters that may have been delivered all the same.
	ErrInDoubt = errors.New("remote: sent, but not acknowledged")
	// ErrForeign: what listens at an address is no endpoint, as it speaks another protocol.
	// [Config.DialFailed] hears of it.
	ErrForeign = errors.New("remote: what listens there is no node of Understudy")
	// ErrNotAuthenticated: one side of a connection has not proved to the other who it
	// is. [Config.DialFailed] hears of it, and it is part of the reason of dead letters.
	ErrNotAuthenticated = errors.New("remote: not authenticated")
)

// Refusal says why a peer did not take a connection.
type Refusal uint8

// The refusals. Those of later versions of the protocol may be others.
const (
	RefusedHello       Refusal = iota + 1 // the handshake was malformed
	RefusedVersion                        // the peer does not speak our version of the protocol
	RefusedCluster                        // the peer belongs to another cluster
	RefusedIncarnation                    // the incarnation we knew is gone: another one lives at the address
	RefusedSession                        // the peer does not know the session that was to go on
	RefusedMember                         // the peer's Config.Admit or AdmitMessages said no
	RefusedIdentity                       // TLS on one side only, or a certificate that is for another address
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

// A RefusedError is a connection that the peer refused in the handshake.
type RefusedError struct {
	Peer    NodeID // who refused, where it was dialed; with RefusedIncarnation, where it says that it lives
	Refusal Refusal
	Detail  string // in the peer's words
}

// Error returns who refuses, and why, in our words and in the peer's.
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
		"understudy/remote.closed":            ErrClosed,
		"understudy/remote.frame":             ErrFrame,
		"understudy/remote.too-large":         ErrTooLarge,
		"understudy/remote.outbox-full":       ErrOutboxFull,
		"understudy/remote.in-doubt":          ErrInDoubt,
		"understudy/remote.not-authenticated": ErrNotAuthenticated,
	} {
		actor.RegisterError(name, err)
	}
}
