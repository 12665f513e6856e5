//go:build !unix

package remote

import "net"

// newTrier returns nil: nothing can be written here that does not wait.
func newSocketWriter(net.Conn) nonBlockingWriter { return nil }
