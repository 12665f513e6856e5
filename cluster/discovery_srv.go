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
