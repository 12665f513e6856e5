package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"time"
)

// A fault is something that happens to the leader.
type fault struct {
	name    string
	network bool // it needs network namespaces
	strike  func(ctx context.Context, t *trial, leader int) error
}

var faults = []fault{
	{name: "SIGKILL", strike: func(_ context.Context, t *trial, leader int) error {
		return t.members[leader].signal(syscall.SIGKILL)
	}},
	{name: "SIGSTOP", strike: stopAndContinue},
	{name: "cut", network: true, strike: cutAndPlug},
	{name: "rolling restart", strike: restartAll},
}

// stopAndContinue pauses the leader for a while.
func stopAndContinue(ctx context.Context, t *trial, leader int) error {
	p := t.members[leader].current()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	pause(ctx, t.stage.hold)
	t.show.event("SIGCONT for %s", nodeName(leader))
	return p.Signal(syscall.SIGCONT)
}

// cutAndPlug cuts the leader from everything for a while: its peers, the servers and the client.
func cutAndPlug(ctx context.Context, t *trial, leader int) error {
	if err := t.stage.network.cut(leader); err != nil {
		return err
	}
	pause(ctx, t.stage.hold)
	t.show.event("the network of %s is whole again", nodeName(leader))
	return t.stage.network.plug(leader)
}

// restartAll restarts one node after the other with SIGTERM, each when the one before is back.
func restartAll(ctx context.Context, t *trial, _ int) error {
	for _, m := range t.members {
		anyMoment(ctx)
		p := m.current()
		if err := p.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		select {
		case <-p.Done():
		case <-time.After(leaveLimit + 5*time.Second):
			return errors.New(m.cfg.Name + " did not end after SIGTERM")
		}
		pause(ctx, restartDelay)
		if err := t.settle(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

// anyMoment waits for a random time, so that faults do not keep step with the polls of an opponent.
func anyMoment(ctx context.Context) { pause(ctx, rand.N(2*time.Second)) }
