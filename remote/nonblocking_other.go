//go:build !unix

package remote

import "net"

// This platform has no non-blocking writes.
func newSocketWriter(net.Conn) nonBlockingWriter { return nil }
