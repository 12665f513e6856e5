package etcd

import (
	"errors"
	"fmt"
	"math"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/understudy-go/understudy/internal/options"
	"github.com/understudy-go/understudy/singleton/lease"
)

// DefaultPrefix is the prefix of the keys without the option [Prefix].
const DefaultPrefix = "understudy/lease/"

var _ lease.Store = (*Store)(nil)

// ErrOverflow: the token does not fit into 64 bits. No counter gets that far: the floor of the
// claim is wrong. Use another name for the lease.
var ErrOverflow = errors.New("etcd: the tokens of this name are used up, they end at 2⁶⁴-1")

// A Store is a [lease.Store] in etcd. Its methods may be called by any goroutine, and return when
// their context ends. Make one with [New].
type Store struct {
	client *clientv3.Client
	prefix string
}

// An Option configures a [Store].
type Option func(*Store)

// Prefix sets the prefix of the keys, which should end with a slash. All contenders for a name must
// have the same prefix. The default is [DefaultPrefix].
func Prefix(prefix string) Option {
	return func(s *Store) { s.prefix = prefix }
}

// New returns a store that uses client. It sends no request. The caller closes client when no lease
// needs it any more.
func New(client *clientv3.Client, opts ...Option) (*Store, error) {
	if client == nil {
		return nil, errors.New("etcd: New needs a client; make one with clientv3.New")
	}
	s := &Store{client: client, prefix: DefaultPrefix}
	if err := options.Apply(s, opts); err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	if s.prefix == "" {
		return nil, errors.New("etcd: the Prefix is empty; give one that no other program uses")
	}
	return s, nil
}

// holderKey is the key with the holder of a lease, while the lease is held.
func (s *Store) holderKey(name string) string { return s.prefix + "holder/" + name }

// tokenKey is the key with the last token of a name. It is never deleted.
func (s *Store) tokenKey(name string) string { return s.prefix + "token/" + name }

func after(token, floor uint64) (uint64, error) {
	highest := max(token, floor)
	if highest == math.MaxUint64 {
		return 0, fmt.Errorf("%w: got %d with a floor of %d", ErrOverflow, token, floor)
	}
	return highest + 1, nil
}
