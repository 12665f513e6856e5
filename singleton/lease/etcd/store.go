package etcd

import (
	"errors"
	"fmt"
	"math"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/understudy-go/understudy/singleton/lease"
)

// DefaultPrefix is what the keys begin with unless [Prefix] says otherwise.
const DefaultPrefix = "understudy/lease/"

var _ lease.Store = (*Store)(nil)

// ErrOverflow is the error of an acquisition whose token does not fit into 64 bits. A
// counter does not come that far; look for who invented the floor.
var ErrOverflow = errors.New("etcd: the tokens of this name are used up, they end at 2⁶⁴-1")

// A Store is a [lease.Store] in etcd. Its methods may be called from any goroutine, and
// end when their context does. Make one with [New].
type Store struct {
	client *clientv3.Client
	prefix string
}

// An Option changes what [New] makes.
type Option func(*Store)

// Prefix says what the keys begin with, to the letter: it should end with a slash. Those
// who contend for a name must have the same one.
func Prefix(prefix string) Option {
	return func(s *Store) { s.prefix = prefix }
}

// New makes a store. It asks nothing yet. The client is yours to close, when no lease
// needs it any more.
func New(client *clientv3.Client, opts ...Option) (*Store, error) {
	if client == nil {
		return nil, errors.New("etcd: New needs a client; make one with clientv3.New")
	}
	s := &Store{client: client, prefix: DefaultPrefix}
	for _, opt := range opts {
		opt(s)
	}
	if s.prefix == "" {
		return nil, errors.New("etcd: the Prefix is empty; give one that no other program uses")
	}
	return s, nil
}

// holderKey is where the holder of a lease is noted, while there is one.
func (s *Store) holderKey(name string) string { return s.prefix + "holder/" + name }

// tokenKey is where the last token of a name is noted, for ever.
func (s *Store) tokenKey(name string) string { return s.prefix + "token/" + name }

// after returns the token that follows both.
func after(token, floor uint64) (uint64, error) {
	highest := max(token, floor)
	if highest == math.MaxUint64 {
		return 0, fmt.Errorf("%w: got %d with a floor of %d", ErrOverflow, token, floor)
	}
	return highest + 1, nil
}
