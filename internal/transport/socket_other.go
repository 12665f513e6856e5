//go:build !unix

package transport

import "net"

// This platform has no non-blocking writes.
func asSocket(conn net.Conn) net.Conn { return conn }
