package orders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/internal/lab/cutproxy"
	"github.com/understudy-go/understudy/internal/lab/journals"
)

// A story is one run of the program.
type story struct {
	nodes  *trio
	ledger *ledger
	cut    *cutproxy.Proxy // between the nodes and the services
	begin  time.Time
}

// direct starts the services and the nodes, lets customers order, and checks the ledger.
func direct(ctx context.Context, s settings) error {
	if s.journal == "" {
		dir, err := os.MkdirTemp("", "orders")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		s.journal = filepath.Join(dir, "journal.db")
	}
	ledger, err := openLedger()
	if err != nil {
		return err
	}
	defer ledger.close()
	cut, err := cutproxy.Start(ledger.url)
	if err != nil {
		return err
	}
	defer cut.Close()
	s.services = "http://" + cut.Addr()
	nodes, err := start(ctx, s)
	defer nodes.close()
	if err != nil {
		return err
	}
	fmt.Printf("three nodes run version 1; journal in %s\n", journals.Shown(s.journal))
	return (&story{nodes: nodes, ledger: ledger, cut: cut}).tell(ctx, s)
}

func (s *story) tell(ctx context.Context, of settings) error {
	s.begin = time.Now()
	all := of.plan(s.begin)
	placing, stop := context.WithCancel(ctx)
	defer stop()
	finished := pursueAll(placing, all, s.nodes.addresses)
	err := s.strike(ctx)
	if err != nil {
		stop()
	}
	if err := errors.Join(err, finished()); err != nil {
		return err
	}
	r := compare(all, s.ledger.entries())
	r.print()
	return r.verdict()
}

// strike does to the nodes what happens to nodes.
func (s *story) strike(ctx context.Context) error {
	for _, next := range []struct {
		at time.Duration
		do func(context.Context) error
	}{{3 * time.Second, s.kill}, {9 * time.Second, s.pause}, {18 * time.Second, s.loseAnswers}, {20 * time.Second, s.upgradeAll}} {
		if err := waitUntil(ctx, s.begin.Add(next.at)); err != nil {
			return err
		}
		if err := next.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) say(format string, args ...any) {
	fmt.Printf("%5.1fs  %s\n", time.Since(s.begin).Seconds(), fmt.Sprintf(format, args...))
}

// victim waits until the busiest node reserves something, so that it is about to charge.
func (s *story) victim(ctx context.Context) (string, error) {
	node := s.ledger.busiest()
	if node == "" {
		return "", errors.New("no order has come to the services yet; if the machine is busy, run it again later")
	}
	select {
	case <-s.ledger.next("reserve", node):
	case <-time.After(3 * time.Second): // it begins no more
	case <-ctx.Done():
		return "", errInterrupted
	}
	return node, waitUntil(ctx, time.Now().Add(checking/2))
}

func (s *story) kill(ctx context.Context) error {
	node, err := s.victim(ctx)
	if err != nil {
		return err
	}
	s.nodes.all[node].Kill()
	s.say("kill -9 of %s", node)
	if err := waitUntil(ctx, time.Now().Add(time.Second)); err != nil {
		return err
	}
	if err := s.nodes.launch(node, 1); err != nil {
		return err
	}
	if err := s.nodes.ready(ctx, node); err != nil {
		return err
	}
	s.say("%s runs again", node)
	return nil
}

// pause stops a node for longer than the others wait for it.
func (s *story) pause(ctx context.Context) error {
	node, err := s.victim(ctx)
	if err != nil {
		return err
	}
	if err := s.nodes.all[node].Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	s.say("kill -STOP of %s; the others take its runs over", node)
	if err := waitUntil(ctx, time.Now().Add(8*time.Second)); err != nil {
		return err
	}
	if err := s.nodes.all[node].Signal(syscall.SIGCONT); err != nil {
		return err
	}
	s.say("kill -CONT of %s, which does not know that it was replaced", node)
	return nil
}

// loseAnswers drops the answers of the services for a while, which do as they are asked.
func (s *story) loseAnswers(ctx context.Context) error {
	s.say("the answers of the services are lost for a second")
	s.cut.LoseAnswers(true)
	err := waitUntil(ctx, time.Now().Add(time.Second))
	s.cut.LoseAnswers(false)
	s.cut.Cut()
	return err
}

func (s *story) upgradeAll(ctx context.Context) error {
	s.say("a rolling upgrade to version 2, which notifies the customer before it ships")
	for _, node := range names {
		if err := s.nodes.upgrade(ctx, node); err != nil {
			return err
		}
		s.say("%s runs version 2", node)
	}
	return nil
}
