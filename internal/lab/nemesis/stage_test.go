//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
	"github.com/understudy-go/understudy/singleton"
)

// loaded is the time that a busy machine may add to any other time.
const loaded = 3 * time.Second

// A stage is one cluster of real processes. Clients write into its ledger all the time, and
// scenarios run on it one after the other.
type stage struct {
	*harness
	t       *testing.T // of the scenario that is played
	started time.Duration
	extras  []*nodeRun
	finish  func() // ends the clients
}

// needNetwork ends a test on a machine that cannot have a separate network: see [needs.Missing].
func needNetwork(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("real processes take a minute: run it without -short")
	}
	if err := possible(); err != nil {
		needs.Missing(t, "%v", err)
	}
}

// newStage starts a cluster of that many nodes, and leaves one place of the network free.
func newStage(t *testing.T, o options, identities []identity) *stage {
	t.Helper()
	needNetwork(t)
	var out bytes.Buffer
	o.spare, o.settle = 1, time.Minute
	h, err := newHarness(&out, o)
	require.NoError(t, err)
	h.tls = identities
	s := &stage{harness: h, t: t, finish: func() {}}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		s.finish()
		for _, p := range s.extras {
			p.kill()
		}
		if t.Failed() {
			t.Logf("logs are in %s\n%s", h.dir, &out)
		}
		require.NoError(t, h.close(t.Failed()))
	})
	s.started = clock()
	require.NoError(t, h.begin(ctx))
	clients, done := h.startClients(ctx)
	s.finish = func() {
		done()
		clients.Wait()
	}
	return s
}

// play runs a scenario on a settled cluster, repairs everything, and waits until the cluster has
// settled again.
func (s *stage) play(name string, scenario func(s *stage)) {
	whole := s.t
	whole.Run(name, func(t *testing.T) {
		s.t = t
		defer func() {
			s.t = whole
			require.NoError(t, s.repair())
			require.NoError(t, s.awaitSettled(t.Context(), true))
		}()
		s.show.text("%s", name)
		s.stabilized()
		scenario(s)
	})
}

// stabilized waits until no node has been unreachable for so long that earlier silences have no
// effect.
func (s *stage) stabilized() {
	s.t.Helper()
	var last time.Duration
	for n := range s.nodes {
		for _, seen := range s.events(s.running[n]) {
			if seen.Kind == "MemberReachable" {
				last = max(last, seen.At)
			}
		}
	}
	s.pass(last + stableAfter + time.Second - clock())
}

// do injects a fault, and returns the time.
func (s *stage) do(kind Kind, targets ...int) time.Duration {
	s.t.Helper()
	require.NoError(s.t, s.inject(Fault{Kind: kind, Targets: targets}, kind == Partition))
	return s.injections[len(s.injections)-1].at
}

// repaired repairs everything, and returns the time.
func (s *stage) repaired() time.Duration {
	s.t.Helper()
	at := clock()
	require.NoError(s.t, s.repair())
	return at
}

// pass lets time pass.
func (s *stage) pass(d time.Duration) {
	s.t.Helper()
	require.NoError(s.t, sleep(s.t.Context(), d))
}

// await waits until a condition holds. It fails at a deadline.
func (s *stage) await(until time.Duration, what string, so func() bool) {
	s.t.Helper()
	s.awaitWhile(func() time.Duration { return until }, what, so)
}

// awaitWhile waits until a condition holds. It fails at a deadline that may change meanwhile.
func (s *stage) awaitWhile(until func() time.Duration, what string, so func() bool) {
	s.t.Helper()
	for !so() {
		require.Less(s.t, clock(), until(), "waited for: %s", what)
		s.pass(10 * time.Millisecond)
	}
}

// leading returns the node that runs the ledger, and one that does not.
func (s *stage) leading() (host, other int) {
	s.t.Helper()
	s.await(clock()+loaded, "a host", func() bool {
		host = s.host()
		return host >= 0
	})
	return host, s.others([]int{host})[1]
}

// identityOf returns the ID of the present incarnation of a node.
func (s *stage) identityOf(node int) (id string) {
	s.t.Helper()
	for _, seen := range s.events(s.running[node]) {
		if seen.Kind == "MemberUp" && seen.Member == nodeName(node) {
			id = seen.ID
		}
	}
	require.NotEmpty(s.t, id)
	return id
}

// events returns the events that a process has seen up to now.
func (s *stage) events(p *nodeRun) []ObservedEvent {
	s.t.Helper()
	text, err := os.ReadFile(eventsFile(s.dir, p.name))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(s.t, err)
	return readEvents(bytes.NewReader(text))
}

// seen returns when a node first saw an event at some time or later. ok is false if it has not seen
// it yet.
func (s *stage) seen(node int, from time.Duration, match func(ObservedEvent) bool) (first ObservedEvent, ok bool) {
	s.t.Helper()
	all := s.events(s.running[node])
	i := slices.IndexFunc(all, func(x ObservedEvent) bool { return x.At >= from && match(x) })
	if i < 0 {
		return ObservedEvent{}, false
	}
	return all[i], true
}

// allSee waits until nodes have seen an event that happened at some time. It fails if one of them
// has not seen it within a limit, and returns how long the first and the last node took.
func (s *stage) allSee(nodes []int, from, limit time.Duration, what string, match func(ObservedEvent) bool) (least, most time.Duration) {
	s.t.Helper()
	least = limit
	for _, n := range nodes {
		var at time.Duration
		seen := func() (ok bool) {
			var first ObservedEvent
			first, ok = s.seen(n, from, match)
			at = first.At
			return ok
		}
		for !seen() {
			if clock() >= from+limit+loaded {
				require.Fail(s.t, nodeName(n)+" has not seen: "+what, s.account(n, from))
			}
			s.pass(10 * time.Millisecond)
		}
		took := at - from
		require.LessOrEqual(s.t, took, limit, "%s has seen late: %s", nodeName(n), what)
		least, most = min(least, took), max(most, took)
	}
	s.show.at(clock(), "%s: after %.3fs to %.3fs", what, least.Seconds(), most.Seconds())
	return least, most
}

// account describes what a node has seen since some time, for a failed test.
func (s *stage) account(node int, from time.Duration) string {
	s.t.Helper()
	log, err := os.ReadFile(filepath.Join(s.dir, nodeName(node)+".log"))
	require.NoError(s.t, err)
	lines := strings.Split(string(log), "\n")
	return fmt.Sprintf("%s has been held up for %v since %.2fs; its events are\n%+v\nand its log ends with\n%s", s.running[node].name,
		s.heldUp([]int{node}, from), from.Seconds(), s.events(s.running[node]), strings.Join(lines[max(0, len(lines)-40):], "\n"))
}

// noneSees fails if one of some nodes has seen an event.
func (s *stage) noneSees(nodes []int, from time.Duration, what string, match func(ObservedEvent) bool) {
	s.t.Helper()
	for _, n := range nodes {
		seen, ok := s.seen(n, from, match)
		require.False(s.t, ok, "%s has seen: %s: %+v, after %v", nodeName(n), what, seen, seen.At-from)
	}
}

// kind matches an event about a member. An empty name matches any member.
func kind(kind, member string) func(ObservedEvent) bool {
	return func(x ObservedEvent) bool { return x.Kind == kind && (member == "" || x.Member == member) }
}

// undisrupted fails if some node has seen another one unreachable or down since some time. If the
// machine held up nodes, only down counts.
func (s *stage) undisrupted(from time.Duration) {
	s.t.Helper()
	s.noneIsDown(from)
	if held := s.heldUp(s.others(nil), from); held > 3*stall {
		s.t.Logf("a node was held up for %v, so that who was unreachable says nothing", held)
		return
	}
	s.noneSees(s.others(nil), from, "a member is unreachable", kind("MemberUnreachable", ""))
}

// noneIsDown fails if some node has seen another one down since some time.
func (s *stage) noneIsDown(from time.Duration) {
	s.t.Helper()
	s.noneSees(s.others(nil), from, "a member is down", kind("MemberDowned", ""))
	s.noneSees(s.others(nil), from, "a node has lost its place", kind("MembershipLost", ""))
}

// heldUp returns the longest time in which one of some nodes got no processor or was stopped, since
// some time.
func (s *stage) heldUp(nodes []int, from time.Duration) (longest time.Duration) {
	s.t.Helper()
	for _, n := range nodes {
		text, err := os.ReadFile(s.config(n, s.starts[n]).Stalls)
		require.NoError(s.t, err)
		longest = max(longest, longestStall(bytes.NewReader(text), from))
	}
	return longest
}

// acknowledged fails if nothing was acknowledged for longer than a limit, between a time and now.
func (s *stage) acknowledged(from, limit time.Duration) {
	s.t.Helper()
	longest := silence(s.rec.acked(), from, clock())
	s.show.at(clock(), "nothing was acknowledged for %.3fs", longest.Seconds())
	require.LessOrEqual(s.t, longest, limit, "nothing was acknowledged for that long")
}

// ticking returns the reports of the instances of the ticker, in order of their start.
func (s *stage) ticking() []Run {
	s.t.Helper()
	return s.said(".ticks")
}

// said returns the reports of the instances of a ticker, in order of their start.
func (s *stage) said(kind string) []Run {
	s.t.Helper()
	runs, err := s.readRuns(kind)
	require.NoError(s.t, err)
	slices.SortFunc(runs, func(a, b Run) int { return int(a.Said[0] - b.Said[0]) })
	return runs
}

// generation returns the generation of the newest instance of the ticker.
func (s *stage) generation() singleton.Generation {
	s.t.Helper()
	runs := s.ticking()
	return runs[len(runs)-1].Generation
}

// extra starts a process at the free place of the network, and returns it with its log.
func (s *stage) extra(change func(*nodeConfig)) (p *nodeRun, log func() string) {
	s.t.Helper()
	cfg := s.config(s.nodes, len(s.extras)+1)
	cfg.Ticks += "-elsewhere" // it may be another cluster
	change(&cfg)
	file, err := os.Create(filepath.Join(s.dir, cfg.Process+".log"))
	require.NoError(s.t, err)
	defer file.Close()
	p, err = startProcess(cfg, "", file)
	require.NoError(s.t, err)
	s.extras = append(s.extras, p)
	return p, func() string {
		text, err := os.ReadFile(file.Name())
		require.NoError(s.t, err)
		return string(text)
	}
}

// refused starts a process. It fails unless the process ends by itself within a second with a
// reason, and no node notices.
func (s *stage) refused(reason string, change func(*nodeConfig)) {
	s.t.Helper()
	from := clock()
	p, log := s.extra(change)
	require.NoError(s.t, p.await(time.Second+loaded))
	s.show.at(clock(), "refused after %.3fs", (clock() - from).Seconds())
	require.Error(s.t, p.Wait())
	_, failure, found := strings.Cut(log(), "node has failed: ")
	require.True(s.t, found, log())
	require.Contains(s.t, failure, reason)
	s.noneSees(s.others(nil), from, "anything", func(ObservedEvent) bool { return true })
}
