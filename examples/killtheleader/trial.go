package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A trial is how one opponent fared.
type trial struct {
	opponent
	skipped error // why it did not take place
	stopped error // why it ended before the last fault

	stage   *stage
	show    *live
	members []*member
	client  *client
	refused atomic.Int64

	began   time.Time
	length  time.Duration
	acks    []ack
	rows    []row
	outages []outage
	verdict verdict
}

// play lets an opponent play: three nodes, the client, and the faults one by one.
func (s *stage) play(ctx context.Context, o opponent, show *live) (*trial, error) {
	t := &trial{opponent: o, stage: s, show: show}
	if lack := s.lack(o); lack != nil {
		t.skipped = fmt.Errorf("skipped: %w", lack)
		show.text("%s: %v", o.name, t.skipped)
		return t, nil
	}
	configs, err := s.nodes(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.name, err)
	}
	if t.stopped = t.run(ctx, configs); t.stopped != nil {
		show.event("stopped: %v", t.stopped)
	}
	if t.rows, err = readRows(ctx, o, s.postgres.url(strings.ReplaceAll(o.name, "-", "_"))); err != nil {
		return nil, fmt.Errorf("%s: %w", o.name, err)
	}
	t.verdict = check(t.acks, t.rows)
	show.event("%v", t.verdict)
	return t, nil
}

// run starts the nodes and the client, injects the faults, and ends them all.
func (t *trial) run(ctx context.Context, configs []nodeConfig) error {
	log, err := t.stage.log(t.opponent)
	if err != nil {
		return err
	}
	defer log.Close()
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	var addresses []string
	for _, cfg := range configs {
		m := &member{cfg: cfg, log: log, refused: &t.refused}
		if t.stage.network != nil {
			m.space = t.stage.network.space(cfg.Name)
		}
		t.members, addresses = append(t.members, m), append(addresses, cfg.Listen)
		running.Go(func() { cancel(m.keep(ctx)) })
	}
	t.began = time.Now()
	t.client = newClient(addresses, t.began)
	return t.load(ctx)
}

// load runs the client while the faults happen.
func (t *trial) load(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { t.client.run(ctx, t.stage.rate) })
	running.Go(func() { t.show.watch(ctx, t) })
	err := t.story(ctx)
	if err == nil {
		err = context.Cause(ctx)
	}
	cancel()
	running.Wait()
	t.acks, t.length = t.client.acks, time.Since(t.began)
	for i, o := range t.outages {
		t.outages[i].longest = longestGap(ackTimes(t.acks), o.from, o.to)
	}
	return err
}

func (t *trial) story(ctx context.Context) error {
	if err := t.settle(ctx, settledFor); err != nil {
		return err
	}
	t.show.event("three nodes are ready")
	for range t.stage.rounds {
		for _, f := range t.stage.faults() {
			if err := t.strike(ctx, f); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	return nil
}

// strike injects a fault and waits until the system is well.
func (t *trial) strike(ctx context.Context, f fault) error {
	anyMoment(ctx)
	leader := t.leader()
	t.show.event("%s, leader %s", f.name, nodeName(leader))
	o := outage{fault: f.name, from: time.Since(t.began)}
	err := f.strike(ctx, t, leader)
	if err == nil {
		err = t.settle(ctx, settledFor)
	}
	o.to = time.Since(t.began)
	t.outages = append(t.outages, o)
	if err != nil {
		return err
	}
	t.show.event("settled; %s without an acknowledged write", seconds(longestGap(t.client.times(), o.from, o.to)))
	return nil
}

// leader returns the node that has stored the number that was acknowledged last.
func (t *trial) leader() int {
	name, _, _ := strings.Cut(t.client.figures().last.Leader, " ")
	for i, m := range t.members {
		if m.cfg.Name == name {
			return i
		}
	}
	return 0
}

// settleLimit is how long a system may take to be well after a fault.
const settleLimit = 90 * time.Second

// settle waits until all nodes have been ready, and numbers acknowledged, for a while.
func (t *trial) settle(ctx context.Context, span time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleLimit, fmt.Errorf("not well after %v", settleLimit))
	defer cancel()
	for since := time.Now(); time.Since(since) < span; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !t.well(ctx) {
			since = time.Now()
		}
		pause(ctx, 100*time.Millisecond)
	}
	return nil
}

func (t *trial) well(ctx context.Context) bool {
	if f := t.client.figures(); f.acked == 0 || time.Since(t.began)-f.last.acked > 300*time.Millisecond {
		return false
	}
	for _, m := range t.members {
		if !t.client.ready(ctx, m.cfg.Listen) {
			return false
		}
	}
	return true
}
