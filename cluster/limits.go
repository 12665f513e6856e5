package cluster

import (
	"cmp"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/internal/transport"
)

// Traffic limits the traffic between nodes. Zero in a field stands for its default; a negative
// value is an error.
type Traffic struct {
	// MaxMessage is the largest size of one message between nodes in bytes, also after
	// decompression. A larger message becomes a dead letter with remote.ErrTooLarge, at the sender
	// or at a receiver with a lower limit, so set it to the same on all nodes. The default is 4
	// MiB, and so is the least value, because nodes send the table of members in one message.
	MaxMessage int

	// CompressFrom is the size in bytes from which on messages to other nodes are compressed, if
	// that makes them smaller. Nodes with different values understand each other. The default is
	// never.
	CompressFrom int

	// OutboxSize is how many messages may wait to be sent to one node. The sender of a further
	// message waits for room, actor or not, as long as the node acknowledges something within each
	// second, and at most 5 s. Otherwise the message becomes a dead letter with
	// remote.ErrOutboxFull. TellNoWait, AskToSelf, replies, and the refs of singletons and placed
	// actors do not wait. The default is 100,000.
	OutboxSize int

	// OutboxBytes is how many bytes of messages may wait for one node, or be sent to it without an
	// acknowledgement. A single message always fits. Senders of further messages wait, see
	// OutboxSize. The default is 64 MiB.
	OutboxBytes int

	// IdleAfter is how long an unused connection is kept. The default is one minute.
	IdleAfter time.Duration

	// MaxUnauthenticated is how many connections to this node may be open that have not been
	// authenticated. Beyond that, the oldest of them is closed. The default is 128.
	MaxUnauthenticated int

	// MaxUnauthenticatedPerHost is how many of them one IP address, or IPv6 /64 network, may have.
	// Beyond that, a new one is closed at once if the oldest is younger than 250 ms; otherwise the
	// oldest is closed. The default is 16.
	MaxUnauthenticatedPerHost int
}

func (t Traffic) withDefaults() Traffic {
	t.MaxMessage = cmp.Or(t.MaxMessage, leastMaxMessage)
	t.OutboxSize = cmp.Or(t.OutboxSize, 100_000)
	t.OutboxBytes = cmp.Or(t.OutboxBytes, 64<<20)
	t.IdleAfter = cmp.Or(t.IdleAfter, time.Minute)
	t.MaxUnauthenticated = cmp.Or(t.MaxUnauthenticated, 128)
	t.MaxUnauthenticatedPerHost = cmp.Or(t.MaxUnauthenticatedPerHost, 16)
	return t
}

// leastMaxMessage is what the table of a large cluster may need, in bytes.
const leastMaxMessage = 4 << 20

func (t Traffic) validate(config string) error {
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"MaxMessage", t.MaxMessage},
		{"CompressFrom", t.CompressFrom},
		{"OutboxSize", t.OutboxSize},
		{"OutboxBytes", t.OutboxBytes},
		{"IdleAfter", int(t.IdleAfter)},
		{"MaxUnauthenticated", t.MaxUnauthenticated},
		{"MaxUnauthenticatedPerHost", t.MaxUnauthenticatedPerHost},
	} {
		if limit.value < 0 {
			return fmt.Errorf("cluster: %s.Traffic.%s is negative; give it a limit, or 0 for the default", config, limit.name)
		}
	}
	if t.MaxMessage < leastMaxMessage {
		return fmt.Errorf("cluster: %s.Traffic.MaxMessage is %d; it can be %d, the default, or more, as nodes need that for their tables", config, t.MaxMessage, leastMaxMessage)
	}
	return nil
}

func (t Traffic) apply(c transport.Config) transport.Config {
	c.MaxMessage, c.CompressFrom = t.MaxMessage, t.CompressFrom
	c.OutboxSize, c.OutboxBytes = t.OutboxSize, t.OutboxBytes
	c.IdleAfter = t.IdleAfter
	c.MaxUnauthenticated, c.MaxUnauthenticatedPerHost = t.MaxUnauthenticated, t.MaxUnauthenticatedPerHost
	return c
}
