//go:build !unix

package transport

import "net"

// This platform has no non-blocking writes.
func newSocketWriter(net.Conn) nonBlockingWriter { return nil }
