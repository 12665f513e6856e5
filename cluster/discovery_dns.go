package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// DNS finds the nodes by the A and AAAA records of a name: one record for each node, all with the
// same port. The nodes advertise their IP addresses.
type DNS struct {
	// Host is the name. End it with a dot if it is complete, so that the search list of the system
	// is not tried first. It is required.
	Host string

	// Port is the port of every node, 1 to 65535. It is required.
	Port int

	// Family is "ip4" for A records alone and "ip6" for AAAA records alone. The default is "ip",
	// both. If a node has records of both kinds, set Family to the kind that it advertises;
	// otherwise the others try two addresses for it.
	Family string

	// Resolver looks names up. The default, nil, is [net.DefaultResolver].
	Resolver *net.Resolver
}

// Find looks up Host. See [Discovery].
func (d DNS) Find(ctx context.Context) ([]string, error) {
	switch {
	case d.Host == "":
		return nil, errors.New("cluster: DNS.Host is empty; set it to the name that has the addresses of the nodes")
	case d.Port <= 0 || d.Port > 65535:
		return nil, fmt.Errorf("cluster: DNS.Port is %d; set it to the port that the nodes advertise", d.Port)
	}
	found, err := numbers(ctx, d.Resolver, cmp.Or(d.Family, "ip"), d.Host, d.Port)
	if err != nil {
		return nil, fmt.Errorf("cluster: addresses of %s: %w", d.Host, err)
	}
	return found, nil
}

// numbers returns the IP addresses of a host, each with port. If there is no such host it returns
// none.
func numbers(ctx context.Context, r *net.Resolver, family, host string, port int) ([]string, error) {
	ips, err := orDefault(r).LookupNetIP(ctx, family, host)
	switch {
	case missing(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var found []string
	for _, ip := range ips {
		found = append(found, net.JoinHostPort(ip.Unmap().String(), strconv.Itoa(port)))
	}
	return found, nil
}

func missing(err error) bool {
	failure, ok := errors.AsType[*net.DNSError](err)
	return ok && failure.IsNotFound
}

func orDefault(r *net.Resolver) *net.Resolver {
	if r == nil {
		return net.DefaultResolver
	}
	return r
}
