package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/naming"
)

// A Discovery finds the addresses of the nodes of a cluster while the program runs: [DNS] and [SRV]
// look up records, [Kubernetes] a headless service, and a [DiscoveryFunc] is one of your own. It
// should find exactly the addresses that the nodes advertise (Advertise of [Config], or Bind), and
// may find this node. A node that notices that it is found under another address says so; a node
// that is not found at all forms no cluster.
type Discovery interface {
	// Find returns at most 1000 addresses, each a host:port, in any order. No addresses and no
	// error mean that there are no nodes: a name that does not exist is no error, because that is
	// the case before the first node starts. An error means that it is not known which nodes exist.
	// Find must return when ctx ends, after five seconds at the latest. Calls from one node do not
	// overlap.
	Find(ctx context.Context) ([]string, error)
}

const (
	searchTime = 5 * time.Second // the limit of one Find
	maxFound   = 1000            // addresses
)

// A discoverer runs Config.Discovery and remembers the last results, for the log and for messages
// to people.
type discoverer struct {
	by  Discovery
	log *zap.Logger

	mu    sync.Mutex // guards all below
	found []string
	err   error           // nil if the last search succeeded
	told  map[string]bool // kinds of failures that were logged since the last success
}

// search runs discovery once, and posts the result unless aborted has ended.
func (d *discoverer) search(aborted context.Context, post func(membership.Input)) {
	ctx, cancel := context.WithTimeout(aborted, searchTime)
	defer cancel()
	addresses, err := d.find(ctx)
	if err == nil {
		addresses, err = usable(addresses)
	}
	if aborted.Err() != nil {
		return
	}
	if d.note(addresses, err) {
		d.logResult(addresses, err)
	}
	post(membership.Found{Addresses: addresses, Failed: err != nil})
}

func (d *discoverer) find(ctx context.Context) (addresses []string, err error) {
	panicked := guard.Apart(func() { addresses, err = d.by.Find(ctx) })
	return addresses, cmp.Or(panicked, err)
}

func usable(addresses []string) ([]string, error) {
	addresses = slices.Compact(slices.Sorted(slices.Values(addresses)))
	if len(addresses) > maxFound {
		return nil, fmt.Errorf("cluster: Config.Discovery found %d addresses; at most %d are allowed", len(addresses), maxFound)
	}
	for _, address := range addresses {
		if err := naming.CheckNode(address); err != nil {
			return nil, fmt.Errorf("cluster: Config.Discovery found %q, which is not the host:port of a node: it %w", address, err)
		}
	}
	return addresses, nil
}

// note records a result, and reports whether it is worth a line of the log.
func (d *discoverer) note(addresses []string, err error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.err
	if d.err = err; err != nil {
		kind := failureKind(err)
		news := !d.told[kind]
		if d.told == nil {
			d.told = map[string]bool{}
		}
		d.told[kind] = true
		return news
	}
	news := before != nil || !slices.Equal(d.found, addresses)
	d.found, d.told = addresses, nil
	return news
}

// failureKind returns the kind of a failure: failures that call for the same remedy have the same
// kind. The text of a timeout does not serve, because it contains the local port.
func failureKind(err error) string {
	kind, panicked := guard.Value(func() string { return kindOfFailure(err) })
	if panicked != nil {
		return guard.Text(err)
	}
	return kind
}

func kindOfFailure(err error) string {
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && timeout.Timeout() {
		return "timeout"
	}
	if failure, ok := errors.AsType[*net.DNSError](err); ok {
		return failure.Err
	}
	return err.Error()
}

// latest returns the addresses found last, and the error of the searches since, if they failed.
func (d *discoverer) latest() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.found, d.err
}

func (d *discoverer) logResult(addresses []string, err error) {
	if err != nil {
		d.log.Warn("discovery fails", zap.Error(err))
		return
	}
	d.log.Info("discovery has found", zap.Strings("addresses", addresses))
}

// DiscoveryFunc is a [Discovery] of your own, for instance a query to a registry.
type DiscoveryFunc func(ctx context.Context) ([]string, error)

// Find calls f.
func (f DiscoveryFunc) Find(ctx context.Context) ([]string, error) { return f(ctx) }
