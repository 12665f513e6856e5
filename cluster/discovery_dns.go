package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
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

// SRV finds the nodes by the SRV records of _Service._Proto.Name. Each record contains the host and
// the port of one node. Priorities and weights have no effect, because all nodes are wanted.
type SRV struct {
	// Service is the name of the service, without its underscore. By default Name is looked up
	// as it is, and must contain the underscores.
	Service string

	// Proto is the protocol, without its underscore. The default is "tcp".
	Proto string

	// Name is the domain that has the records. It is required.
	Name string

	// Resolve resolves the targets of the records, so that Find returns IP addresses. By default
	// Find returns the targets as names, without the final dot and in lower case. The nodes must
	// advertise these names. A node then keeps its address when its IP address changes.
	Resolve bool

	// Family is the kind of IP addresses that Resolve returns, as in [DNS]. The default is "ip",
	// both.
	Family string

	// Resolver looks names up. The default, nil, is [net.DefaultResolver].
	Resolver *net.Resolver
}

// Find looks up the records and, with Resolve, their targets. It leaves out targets that do not
// exist.
func (s SRV) Find(ctx context.Context) ([]string, error) {
	if s.Name == "" {
		return nil, errors.New("cluster: SRV.Name is empty; set it to the domain that has the records of the nodes")
	}
	proto := cmp.Or(s.Proto, "tcp")
	if s.Service == "" {
		proto = ""
	}
	records, err := s.lookUp(ctx, proto)
	switch {
	case missing(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cluster: records of %s: %w", s.Name, err)
	case len(records) > maxFound: // each would be looked up
		return nil, fmt.Errorf("cluster: %s has %d records; at most %d are allowed, so use a name that leads to the nodes of this cluster only", s.Name, len(records), maxFound)
	}
	var found []string
	for _, record := range records {
		addresses, err := s.addresses(ctx, record)
		if err != nil {
			return nil, fmt.Errorf("cluster: target %s of %s: %w", record.Target, s.Name, err)
		}
		found = append(found, addresses...)
	}
	return found, nil
}

// lookUp returns the SRV records, and returns when ctx ends. The resolver may then wait for an
// answer for some seconds more; for IP addresses it does not.
func (s SRV) lookUp(ctx context.Context, proto string) ([]*net.SRV, error) {
	type result struct {
		records []*net.SRV
		err     error
	}
	answer := make(chan result, 1)
	go func() {
		_, records, err := orDefault(s.Resolver).LookupSRV(ctx, s.Service, proto, s.Name)
		answer <- result{records, err}
	}()
	select {
	case r := <-answer:
		return r.records, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// addresses returns the addresses that a record contains. If its target is a dot, the service does
// not exist there.
func (s SRV) addresses(ctx context.Context, record *net.SRV) ([]string, error) {
	host := strings.ToLower(strings.TrimSuffix(record.Target, "."))
	switch {
	case host == "" || record.Port == 0:
		return nil, nil
	case s.Resolve:
		return numbers(ctx, s.Resolver, cmp.Or(s.Family, "ip"), record.Target, int(record.Port))
	}
	return []string{net.JoinHostPort(host, strconv.Itoa(int(record.Port)))}, nil
}
