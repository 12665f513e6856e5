package transport

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	c := Config{}.withDefaults()
	require.Empty(t, godoc.Check(".",
		godoc.Is("Config.Cluster", `The default is "".`, "", c.Cluster),
		godoc.Is("Config.Protocol", "The default is no protocol, which goes with any.", Protocol{}, c.Protocol),
		godoc.Is("Config.Incarnation", "The default is a random number.", true, c.Incarnation != 0),
		godoc.Is("Config.Advertise", "The default is the bound address.", "", c.Advertise), // it is known when the port is bound
		godoc.Is("Config.Bind", "The default is 127.0.0.1:0.", "127.0.0.1:0", c.Bind),
		godoc.Is("Config.MaxUnauthenticated", "The default is 128.", 128, c.MaxUnauthenticated),
		godoc.Is("Config.MaxUnauthenticatedPerHost", "The default is 16.", 16, c.MaxUnauthenticatedPerHost),
		godoc.Is("Config.OutboxSize", "The default is 100,000.", 100_000, c.OutboxSize),
		godoc.Is("Config.OutboxBytes", "The default is 64 MiB.", 64<<20, c.OutboxBytes),
		godoc.Is("Config.ControlSize", "The default is 1,024.", 1024, c.ControlSize),
		godoc.Is("Config.MaxMessage", "The default is 4 MiB.", 4<<20, c.MaxMessage),
		godoc.Is("Config.CompressFrom", "0 is never.", 0, c.CompressFrom),
		godoc.Is("Config.DialTimeout", "The default is 2 s.", 2*time.Second, c.DialTimeout),
		godoc.Is("Config.HandshakeTimeout", "The default is 2 s.", 2*time.Second, c.HandshakeTimeout),
		godoc.Is("Config.MinBackoff", "The defaults are 20 ms and 1 s.", 20*time.Millisecond, c.MinBackoff),
		godoc.Is("Config.MaxBackoff", "The defaults are 20 ms and 1 s.", time.Second, c.MaxBackoff),
		godoc.Is("Config.UnreachableAfter", "The default is 5 s.", 5*time.Second, c.UnreachableAfter),
		godoc.Is("Config.IdleAfter", "The default is one minute.", time.Minute, c.IdleAfter),
		godoc.Is("Config.Linger", "The default is 1 s.", time.Second, c.Linger),
	))
}
