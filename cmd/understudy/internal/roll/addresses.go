package roll

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are below those that systems give to outgoing connections: one of these could otherwise
// have the port of a node that is being replaced.
const lowest, ports = 20_000, 12_000

// freeAddresses returns addresses on which nobody listens now, by TCP or by UDP.
func freeAddresses(count int) (all []string, err error) {
	var held []io.Closer // so that none of them is found twice
	defer func() {
		for _, h := range held {
			err = errors.Join(err, h.Close())
		}
	}()
	for tries := 0; len(all) < count; tries++ {
		if tries > 100*count {
			return nil, errors.New("there are not enough ports between 20000 and 32000 on which nobody listens")
		}
		at := net.JoinHostPort("127.0.0.1", strconv.Itoa(lowest+rand.IntN(ports))) //nolint:gosec // it is no secret
		l, err := net.Listen("tcp", at)                                            //nolint:noctx // it is closed soon
		if err != nil {
			continue
		}
		held = append(held, l)
		p, err := net.ListenPacket("udp", at) //nolint:noctx // likewise
		if err != nil {
			continue
		}
		held, all = append(held, p), append(all, at)
	}
	return all, nil
}
