package discovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
)

// MaxFound is how many addresses a Find may return.
const MaxFound = 1000

// ErrTooMany is returned by Find for a name with more than [MaxFound] addresses.
var ErrTooMany = errors.New("discovery: too many addresses")

// Static is a list of addresses that are found always, each a host:port.
type Static []string

// Find returns the addresses of s. It does not check them.
func (s Static) Find(context.Context) ([]string, error) { return tidy("the list", slices.Clone(s)) }

// Func is a discovery of your own: it asks whatever knows where nodes run. It must return
// when ctx ends, and may return the addresses, each a host:port, in any order. An error
// says that it is not known who is there; no addresses and no error, that nobody is.
type Func func(ctx context.Context) ([]string, error)

// Find calls f, and puts in order what it returns.
func (f Func) Find(ctx context.Context) ([]string, error) {
	addresses, err := f(ctx)
	if err != nil {
		return nil, err
	}
	return tidy("the function", slices.Clone(addresses))
}

// tidy puts the addresses that something has into the form that Find promises.
func tidy(what string, addresses []string) ([]string, error) {
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	if len(addresses) > MaxFound {
		return nil, fmt.Errorf("%w: %s has %d; at most %d are allowed", ErrTooMany, what, len(addresses), MaxFound)
	}
	return addresses, nil
}

// missing reports whether the error of a lookup says that there is nothing of that name.
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
