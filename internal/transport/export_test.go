package transport

import "github.com/understudy-go/understudy/internal/protocol"

// Speak makes an endpoint speak some versions of the protocol of this package, as another release
// would.
func Speak(c *Config, lowest, highest uint64) {
	c.versions = protocol.Range{Min: lowest, Max: highest}
}

// WearOut lets the key of datagrams to addr seal only one more.
func WearOut(e *Endpoint, addr string) { e.packets.sealers.of(addr).count.Store(sealLimit - 1) }
