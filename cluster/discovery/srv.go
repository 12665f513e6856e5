package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// SRV finds the nodes at the SRV records of _Service._Proto.Name: each says the host and
// the port of one node. Priorities and weights do not matter: all nodes are wanted.
type SRV struct {
	// Service and Proto are without their underscores. The default of Proto is "tcp". With
	// Service empty, Name is looked up as it is, underscores and all.
	Service, Proto string

	// Name is the domain. It is required.
	Name string

	// Resolve looks the targets up, so that what is found are numbers. Otherwise they are
	// taken as they are, without the last dot and in lower case: the nodes advertise these
	// names, and keep their address when their number changes.
	Resolve bool

	// Family is which numbers Resolve takes; see [DNS].
	Family string

	// Resolver is nil for [net.DefaultResolver].
	Resolver *net.Resolver
}

// Find looks the records up, and their targets with Resolve. A target that does not exist
// is left out.
func (s SRV) Find(ctx context.Context) ([]string, error) {
	if s.Name == "" {
		return nil, errors.New("discovery: SRV.Name is empty; set it to the domain that has the records of the nodes")
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
		return nil, fmt.Errorf("discovery: records of %s: %w", s.Name, err)
	case len(records) > MaxFound:
		return nil, fmt.Errorf("%w: %s has %d; at most %d are allowed", ErrTooMany, s.Name, len(records), MaxFound)
	}
	var found []string
	for _, record := range records {
		addresses, err := s.addresses(ctx, record)
		if err != nil {
			return nil, fmt.Errorf("discovery: target %s of %s: %w", record.Target, s.Name, err)
		}
		found = append(found, addresses...)
	}
	return tidy(s.Name, found)
}

// lookUp returns when ctx ends. That of the resolver may then wait for an answer for some
// seconds more, which it does not when numbers are looked up.
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

// addresses returns those that a record stands for. A dot for a target says that the
// service is not there.
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
