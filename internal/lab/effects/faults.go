package effects

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A fault is a kind of faults. strike returns what it has done when that is over.
type fault struct {
	name   string
	strike func(context.Context, *rand.Rand) (what string, err error)
}

// struck is a fault that has struck.
type struck struct {
	fault string
	took  time.Duration // until all nodes were together again, or the sink was there
}

// ofNodes are the faults of nodes, of which there is one at a time. So two nodes always work.
func (s *story) ofNodes() []fault {
	return []fault{{"SIGKILL", s.kill}, {"SIGSTOP", s.stop}, {"cut between nodes", s.cut}, {"rolling restart", s.restart}}
}

// ofSink are the faults of the sink and of its links to the nodes. They strike at the same time as
// those of nodes.
func (s *story) ofSink() []fault {
	return []fault{{"cut to the sink", s.cutSink}, {"lost answers", s.loseAnswers}, {"SIGKILL of the sink", s.killSink}}
}

// strike lets faults strike until ctx ends, each kind once in a round, in any order after the first
// round. It waits between them, at most for pause. It closes once when the first round is over.
func (s *story) strike(ctx context.Context, r *rand.Rand, faults []fault, pause time.Duration, once chan<- struct{}) error {
	for round := 0; ; round++ {
		for _, next := range faults {
			if !sleep(ctx, between(r, pause/4, pause)) {
				return nil
			}
			begin := time.Now()
			what, err := next.strike(ctx, r)
			switch {
			case ctx.Err() != nil:
				return nil //nolint:nilerr // it was interrupted
			case err != nil:
				return fmt.Errorf("%s: %w", next.name, err)
			}
			s.struck(struck{next.name, time.Since(begin)}, what)
		}
		if round == 0 {
			close(once)
		}
		r.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	}
}

// stop stops a node with SIGSTOP, so that it may be replaced, and continues it. The journal in
// SQLite continues a process that was stopped while it wrote, so it is stopped again and again.
func (s *story) stop(ctx context.Context, r *rand.Rand) (string, error) {
	i, d := r.IntN(len(names)), s.duration(r)
	for until := time.Now().Add(d); time.Now().Before(until); {
		if err := s.nodes[i].Signal(syscall.SIGSTOP); err != nil {
			return "", err
		}
		if !sleep(ctx, 100*time.Millisecond) {
			break
		}
	}
	if err := s.nodes[i].Signal(syscall.SIGCONT); err != nil {
		return "", err
	}
	return fmt.Sprintf("SIGSTOP of %s for %v", names[i], tenths(d)), s.whole(ctx)
}

func (s *story) kill(ctx context.Context, r *rand.Rand) (string, error) {
	i, d := r.IntN(len(names)), between(r, 0, 2*time.Second)
	s.nodes[i].kill()
	sleep(ctx, d)
	if err := s.startNode(i); err != nil {
		return "", err
	}
	return fmt.Sprintf("SIGKILL of %s, started again after %v", names[i], tenths(d)), s.whole(ctx)
}

// cut cuts a node off from one of the others or from both.
func (s *story) cut(ctx context.Context, r *rand.Rand) (string, error) {
	order, d := r.Perm(len(names)), s.duration(r)
	from, others := order[0], order[1:1+r.IntN(2)+1]
	var addresses, what []string
	for _, i := range others {
		addresses, what = append(addresses, s.binds[i]), append(what, names[i])
		if err := s.nodes[i].Tell(cutOff + " " + s.binds[from]); err != nil {
			return "", err
		}
	}
	if err := s.nodes[from].Tell(cutOff + " " + strings.Join(addresses, " ")); err != nil {
		return "", err
	}
	sleep(ctx, d)
	for _, i := range order {
		if err := s.nodes[i].Tell(mend); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s is cut off from %s for %v", names[from], strings.Join(what, " and "), tenths(d)), s.whole(ctx)
}

func (s *story) restart(ctx context.Context, r *rand.Rand) (string, error) {
	for _, i := range r.Perm(len(names)) {
		if err := s.nodes[i].leave(); err != nil {
			return "", fmt.Errorf("%s has not left: %w", names[i], err)
		}
		if err := s.startNode(i); err != nil {
			return "", err
		}
		if err := s.whole(ctx); err != nil {
			return "", err
		}
	}
	return "all nodes have left and started, one by one", nil
}

// cutSink breaks all connections of a node to the sink, again and again.
func (s *story) cutSink(ctx context.Context, r *rand.Rand) (string, error) {
	i, d := r.IntN(len(names)), between(r, time.Second, 5*time.Second)
	for until := time.Now().Add(d); time.Now().Before(until) && sleep(ctx, 20*time.Millisecond); {
		s.links[i].Cut()
	}
	return fmt.Sprintf("connections of %s to the sink break, for %v", names[i], tenths(d)), nil
}

// loseAnswers drops the answers of the sink to a node. The sink does as it is asked.
func (s *story) loseAnswers(ctx context.Context, r *rand.Rand) (string, error) {
	i, d := r.IntN(len(names)), between(r, time.Second, 3*time.Second)
	s.links[i].LoseAnswers(true)
	sleep(ctx, d)
	s.links[i].LoseAnswers(false)
	s.links[i].Cut()
	return fmt.Sprintf("answers of the sink to %s are lost, for %v", names[i], tenths(d)), nil
}

func (s *story) killSink(ctx context.Context, r *rand.Rand) (string, error) {
	d := between(r, 0, time.Second)
	s.sink.kill()
	sleep(ctx, d)
	return fmt.Sprintf("SIGKILL of the sink, started again after %v", tenths(d)), s.startSink()
}

// together is how long the nodes may take to be together again after a fault.
const together = 2 * time.Minute

// whole waits until all nodes are members, as each of them sees it. So does one that was stopped or
// cut off, once the others have removed it.
func (s *story) whole(ctx context.Context) error {
	for limit := time.Now().Add(together); time.Now().Before(limit); {
		if !slices.ContainsFunc(s.nodes, func(c *child) bool { return c.members.Load() != int32(len(names)) }) {
			return nil
		}
		if !sleep(ctx, 20*time.Millisecond) {
			return nil
		}
	}
	return fmt.Errorf("the nodes are not together again after %v", together)
}

func (s *story) duration(r *rand.Rand) time.Duration { return between(r, s.shortest, s.longest) }

func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)+1))
}

// sleep waits, and returns false if ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func tenths(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
