package etcd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

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
	for i, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("etcd: option %d is nil", i+1)
		}
		o(s)
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

// Take implements [lease.Store]. It returns [ErrOverflow] for the highest possible Floor, as no
// token is greater. When an answer is lost, a lease of etcd may be left behind until it expires.
func (s *Store) Take(ctx context.Context, c lease.Claim) (lease.Grant, error) {
	g, err := s.take(ctx, c)
	if err != nil && !errors.Is(err, lease.ErrHeld) {
		return lease.Grant{}, fmt.Errorf("etcd: take lease %q: %w", c.Name, err)
	}
	return g, err
}

func (s *Store) take(ctx context.Context, c lease.Claim) (lease.Grant, error) {
	r, err := s.read(ctx, c.Name)
	if err != nil {
		return lease.Grant{}, err
	}
	if r.acquired != 0 && r.holder != c.Holder {
		return lease.Grant{}, fmt.Errorf("%w: %s has it", lease.ErrHeld, r.holder)
	}
	granted, err := s.client.Grant(ctx, seconds(c.TTL))
	if err != nil {
		return lease.Grant{}, err
	}
	// If another acquisition was faster, r is out of date; the next iteration reads again.
	for {
		token, err := after(r.token, c.Floor)
		if err == nil && r.acquired != 0 && r.holder != c.Holder {
			err = fmt.Errorf("%w: %s has it", lease.ErrHeld, r.holder)
		}
		if err != nil {
			s.forget(ctx, granted.ID)
			return lease.Grant{}, err
		}
		acquired, now, err := s.put(ctx, c, r, token, granted.ID)
		if err != nil {
			return lease.Grant{}, err // the lease of etcd may hold the key, so it must not be revoked
		}
		if acquired != 0 {
			if r.id != 0 {
				s.forget(ctx, r.id) // its key now belongs to the new lease of etcd
			}
			return lease.Grant{Claim: c, Token: token, Version: version{acquired, granted.ID}.String()}, nil
		}
		r = now
	}
}

// put writes an acquisition on the condition that r is still the state of the name, and returns its
// revision. Otherwise it returns 0, and the current state in now.
func (s *Store) put(ctx context.Context, c lease.Claim, r record, token uint64, id clientv3.LeaseID) (acquired int64, now record, err error) {
	holder, number := s.holderKey(c.Name), s.tokenKey(c.Name)
	answer, err := s.client.Txn(ctx).If(
		clientv3.Compare(clientv3.ModRevision(holder), "=", r.acquired),
		clientv3.Compare(clientv3.ModRevision(number), "=", r.tokenRev),
	).Then(
		clientv3.OpPut(holder, c.Holder, clientv3.WithLease(id)),
		clientv3.OpPut(number, strconv.FormatUint(token, 10)),
	).Else(s.reads(c.Name)...).Commit()
	switch {
	case err != nil:
		return 0, record{}, err
	case answer.Succeeded:
		return answer.Header.Revision, record{}, nil
	}
	now, err = s.parse(c.Name, answer.Responses)
	return 0, now, err
}

// forget revokes a lease of etcd that no key needs; it would also expire by itself.
func (s *Store) forget(ctx context.Context, id clientv3.LeaseID) {
	_, _ = s.client.Revoke(ctx, id)
}

// seconds returns d in whole seconds, as etcd counts, rounded up.
func seconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}

// Renew implements [lease.Store].
func (s *Store) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	v, ok := parseVersion(g.Version)
	if !ok {
		return lease.Grant{}, lease.ErrLost // not a grant of this package
	}
	_, err := s.client.KeepAliveOnce(ctx, v.id)
	gone := errors.Is(err, rpctypes.ErrLeaseNotFound)
	if err != nil && !gone {
		return lease.Grant{}, fmt.Errorf("etcd: renew lease %q: %w", g.Name, err)
	}
	// The lease of etcd may continue, while the key belongs to another one by now.
	r, err := s.read(ctx, g.Name)
	switch {
	case err != nil && !gone:
		return lease.Grant{}, fmt.Errorf("etcd: renew lease %q: %w", g.Name, err)
	case err == nil && r.acquired != v.acquired && r.holder != "":
		return lease.Grant{}, fmt.Errorf("%w: %s has it", lease.ErrLost, r.holder)
	case gone || r.acquired != v.acquired:
		return lease.Grant{}, lease.ErrLost
	}
	return g, nil
}

// Release implements [lease.Store]. A grant without a version stands for any lease that its holder
// may have.
func (s *Store) Release(ctx context.Context, g lease.Grant) error {
	if err := s.release(ctx, g); err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return fmt.Errorf("etcd: release lease %q: %w", g.Name, err)
	}
	return nil
}

func (s *Store) release(ctx context.Context, g lease.Grant) error {
	v, ok := parseVersion(g.Version)
	if !ok {
		r, err := s.read(ctx, g.Name)
		if err != nil || r.holder != g.Holder {
			return err
		}
		v.id = r.id
	}
	_, err := s.client.Revoke(ctx, v.id)
	return err
}
