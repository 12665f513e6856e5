//go:build !unix

package remote

import "net"

// newSocketWriter returns nil, because this platform has no non-blocking writes.
func newSocketWriter(net.Conn) nonBlockingWriter { return nil }
