package cluster

import (
	"cmp"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/remote"
)

// Traffic says how much nodes may say to each other, and how. The zero value of each field stands
// for its default.
type Traffic struct {
	// MaxMessage bounds one message between nodes in bytes, compressed or not. What is larger
	// becomes a dead letter, with remote.ErrTooLarge. It should be the same on all nodes: what is
	// larger than that of the receiver becomes a dead letter there. The default is 4 MiB, and so
	// is the least: nodes tell each other who is a member in one message.
	MaxMessage int

	// CompressFrom is from how many bytes on a message to another node is sent compressed, if
	// that makes it smaller. Nodes understand each other whatever they have here. The default is
	// never.
	CompressFrom int

	// OutboxSize bounds the messages that wait to be sent to one node. What comes beyond becomes
	// dead letters, with remote.ErrOutboxFull. The default is 100,000.
	OutboxSize int

	// OutboxBytes bounds the bytes of those that wait, and of those that the node has not
	// acknowledged. A single message always fits. The default is 64 MiB.
	OutboxBytes int

	// IdleAfter is how long a connection is kept that carries nothing. The default is one minute.
	IdleAfter time.Duration

	// MaxUnauthenticated bounds the connections to this node that are not authenticated yet: when
	// there are more, the oldest of them is closed. The default is 128.
	MaxUnauthenticated int

	// MaxUnauthenticatedPerHost bounds those that come from one IP address. More are closed at once.
	// The default is 16.
	MaxUnauthenticatedPerHost int
}

// withDefaults returns t with its zero values replaced.
func (t Traffic) withDefaults() Traffic {
	t.MaxMessage = cmp.Or(t.MaxMessage, leastMaxMessage)
	t.OutboxSize = cmp.Or(t.OutboxSize, 100_000)
	t.OutboxBytes = cmp.Or(t.OutboxBytes, 64<<20)
	t.IdleAfter = cmp.Or(t.IdleAfter, time.Minute)
	t.MaxUnauthenticated = cmp.Or(t.MaxUnauthenticated, 128)
	t.MaxUnauthenticatedPerHost = cmp.Or(t.MaxUnauthenticatedPerHost, 16)
	return t
}

// leastMaxMessage is what a table of members may need.
const leastMaxMessage = 4 << 20

// validate says which field of the Config makes no sense.
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

// apply puts the limits where they belong.
func (t Traffic) apply(c remote.Config) remote.Config {
	c.MaxMessage, c.CompressFrom = t.MaxMessage, t.CompressFrom
	c.OutboxSize, c.OutboxBytes = t.OutboxSize, t.OutboxBytes
	c.IdleAfter = t.IdleAfter
	c.MaxUnauthenticated, c.MaxUnauthenticatedPerHost = t.MaxUnauthenticated, t.MaxUnauthenticatedPerHost
	return c
}
