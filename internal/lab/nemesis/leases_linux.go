package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/understudy-go/understudy/singleton/lease"
)

// A leaseServer is the lease store of a harness, in its network.
type leaseServer struct {
	*lease.Memory
	place  int
	server *http.Server
}

func serveLeases(place int) (*leaseServer, error) {
	l, err := listenIn(space(nodeName(place)), address(place))
	if err != nil {
		return nil, fmt.Errorf("the lease store: %w", err)
	}
	s := &leaseServer{Memory: lease.NewMemory(), place: place}
	s.server = &http.Server{Handler: leaseHandler(s.Memory), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }() // until it is closed
	return s, nil
}

func (s *leaseServer) close() error { return s.server.Close() }

// listenIn listens at an address of a network namespace.
func listenIn(space, address string) (l net.Listener, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread is in another namespace, and ends with this goroutine
		var namespace *os.File
		if namespace, err = os.Open("/run/netns/" + space); err != nil {
			return
		}
		defer namespace.Close()
		if err = unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
			return
		}
		l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	}()
	<-done
	return l, err
}
