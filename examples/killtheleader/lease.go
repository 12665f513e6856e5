//go:build !noclientgo

package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The defaults of client-go's leader election, which the components of Kubernetes use.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// A leaseElection makes the node the leader whose name is in a Lease object of Kubernetes.
type leaseElection struct {
	*tableLedger
	elector *leaderelection.LeaderElector
	stop    context.CancelFunc
	leaving atomic.Bool
	ended   chan struct{}
}

func init() { starters[byLease] = startLease }

// startLease starts a node whose leader has a Lease.
func startLease(ctx context.Context, cfg nodeConfig) (ledger, error) {
	table, err := newTableLedger(ctx, cfg.Postgres, cfg.Name)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	e := &leaseElection{tableLedger: table, stop: stop, ended: make(chan struct{})}
	if e.elector, err = newElector(cfg, e); err != nil {
		stop()
		return nil, err
	}
	table.leads = e.elector.IsLeader
	if cfg.Strict {
		table.leads = func() bool { return e.elector.IsLeader() && e.elector.Check(0) == nil }
	}
	table.campaigns.Store(true)
	go func() {
		defer close(e.ended)
		e.elector.Run(ctx)
	}()
	return e, nil
}

func newElector(cfg nodeConfig, e *leaseElection) (*leaderelection.LeaderElector, error) {
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, "default", "ledger",
		resourcelock.ResourceLockConfig{Identity: fmt.Sprint(cfg.Name, "_", os.Getpid())}, cfg.Kube.config(), renewDeadline)
	if err != nil {
		return nil, err
	}
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { e.takeOver() },
			OnStoppedLeading: e.stopped,
		},
	})
}

// config returns the configuration of a client. The certificate of the server is for 127.0.0.1,
// also if the client reaches it by another address.
func (k kubeAccess) config() *rest.Config {
	return &rest.Config{
		Host:            k.Server,
		BearerTokenFile: k.Token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: k.CA, ServerName: "127.0.0.1"},
	}
}

// stopped ends the process at once, as the documentation of client-go asks for, unless it leaves.
func (e *leaseElection) stopped() {
	if !e.leaving.Load() {
		os.Exit(1)
	}
}

// leave ends all writes before it releases the lease, as the documentation of ReleaseOnCancel asks
// for.
func (e *leaseElection) leave(context.Context) error {
	e.leaving.Store(true)
	e.resign()
	e.stop()
	<-e.ended
	return nil
}
