package process

import "net"

// FreeAddresses returns n different addresses of the loopback interface with ports that are free
// now.
func FreeAddresses(n int) (all []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // when all are known, so that they differ
		all = append(all, l.Addr().String())
	}
	return all, nil
}
