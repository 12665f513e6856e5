package discovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
)

// MaxFound is the largest number of addresses that Find returns.
const MaxFound = 1000

// ErrTooMany: Find has found more than [MaxFound] addresses. Use a name that leads to the nodes of
// this cluster only.
var ErrTooMany = errors.New("discovery: too many addresses")

// Static is a fixed list of addresses, each a host:port.
type Static []string

// Find returns the addresses of s. It does not check them.
func (s Static) Find(context.Context) ([]string, error) { return tidy("the list", slices.Clone(s)) }

// Func is a discovery of your own, for instance a query to a registry. It must return when ctx
// ends. It may return addresses, each a host:port, in any order. No addresses and no error mean
// that there are no nodes; an error means that it is not known.
type Func func(ctx context.Context) ([]string, error)

// Find calls f, sorts the addresses and removes duplicates.
func (f Func) Find(ctx context.Context) ([]string, error) {
	addresses, err := f(ctx)
	if err != nil {
		return nil, err
	}
	return tidy("the function", slices.Clone(addresses))
}

// tidy returns addresses in the form that Find promises. what names their source in errors.
func tidy(what string, addresses []string) ([]string, error) {
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	if len(addresses) > MaxFound {
		return nil, fmt.Errorf("%w: %s has %d; at most %d are allowed", ErrTooMany, what, len(addresses), MaxFound)
	}
	return addresses, nil
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
