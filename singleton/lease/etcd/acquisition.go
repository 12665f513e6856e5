package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/understudy-go/understudy/singleton/lease"
)

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
