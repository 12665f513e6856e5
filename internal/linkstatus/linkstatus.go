// Package linkstatus has what a node knows of its connections with other nodes, for the status
// page.
package linkstatus

import "time"

// A State says whether messages to a peer can be sent.
type State string

// The states.
const (
	Connecting State = "connecting" // the first attempt is under way
	Connected  State = "connected"
	Failing    State = "failing"   // connections or attempts have failed since the peer last received something
	Receiving  State = "receiving" // nothing is sent to the peer, which only sends to this node
)

// A Link is one channel to and from a peer.
type Link struct {
	Peer    string // its address
	Channel string // "user" or "control"
	State   State
	Since   time.Time // when the state began; zero for Receiving
	Refused bool      // while Failing: one of the two nodes has refused the other in the last attempt

	Queued      int    // frames that wait to be written
	InDoubt     int    // frames that were written, and are not acknowledged
	QueuedBytes int    // of both
	Full        bool   // the queue has no room
	Dropped     uint64 // frames that had no room, made room for newer ones, or were lost with a session, since the channel was opened

	SentMessages, SentBytes         uint64 // bytes with those that were sent again
	ReceivedMessages, ReceivedBytes uint64 // in the present session of the peer
	Resent                          uint64 // frames that were sent again

	LastError   string    // why a connection or an attempt has failed last; "" for none
	LastErrorAt time.Time // zero for none
}
