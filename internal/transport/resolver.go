package transport

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// A look-up is repeated in the background while the old result is used.
const resolverTTL = 30 * time.Second

// A resolver does not block the caller.
type resolver struct {
	lookup  func(host string) ([]netip.Addr, error)
	cancel  context.CancelFunc // of lookup
	lookups sync.WaitGroup

	mu     sync.Mutex // guards all below
	known  map[string]*resolvedName
	closed bool
}

type ipResolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

type resolvedName struct {
	addr  netip.AddrPort // invalid when the name was never found
	since time.Time      // of the last look-up
	busy  bool
}

func newResolver(r ipResolver) *resolver {
	ctx, cancel := context.WithCancel(context.Background())
	return &resolver{
		lookup: func(host string) ([]netip.Addr, error) { return r.LookupNetIP(ctx, "ip", host) },
		cancel: cancel,
		known:  map[string]*resolvedName{},
	}
}

func (n *resolver) find(hostport string) (netip.AddrPort, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e, ok := n.known[hostport]
	if !ok {
		e = &resolvedName{}
		n.known[hostport] = e
	}
	if !e.busy && !n.closed && time.Since(e.since) > resolverTTL {
		e.busy = true
		n.lookups.Go(func() { n.refresh(hostport) })
	}
	return e.addr, e.addr.IsValid()
}

func (n *resolver) refresh(hostport string) {
	addr, err := n.resolve(hostport)
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.known[hostport]
	e.busy = false
	e.since = time.Now()
	if err == nil {
		e.addr = addr
	}
}

func (n *resolver) resolve(hostport string) (netip.AddrPort, error) {
	host, digits, err := net.SplitHostPort(hostport)
	if err != nil {
		return netip.AddrPort{}, err
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("port %q: %w", digits, err)
	}
	found, err := n.lookup(host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if len(found) == 0 {
		return netip.AddrPort{}, fmt.Errorf("%s has no address", host)
	}
	return netip.AddrPortFrom(preferred(found), uint16(port)), nil
}

// An IPv4 address is preferred, which net.Dial also tries first.
func preferred(ips []netip.Addr) netip.Addr {
	for _, ip := range ips {
		if ip.Unmap().Is4() {
			return ip.Unmap()
		}
	}
	return ips[0]
}

func (n *resolver) close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.cancel()
	n.lookups.Wait()
}
