package remote

import (
	"context"
	"net"
)

// Network opens listeners, connections and sockets for a node. Addresses are host:port.
// Implement it to run nodes on another network, for instance in memory.
type Network interface {
	// Listen opens a listener for streams. Port 0 picks a free port.
	Listen(addr string) (net.Listener, error)
	// Dial connects a stream. It fails when ctx ends.
	Dial(ctx context.Context, addr string) (net.Conn, error)
	// ListenPacket opens a socket for datagrams. Its WriteTo takes any net.Addr whose
	// String is a host:port, and does not block.
	ListenPacket(addr string) (net.PacketConn, error)
}
