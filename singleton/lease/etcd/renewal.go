package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/understudy-go/understudy/singleton/lease"
)

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
