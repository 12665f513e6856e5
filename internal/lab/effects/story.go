package effects

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/lab/journals"
)

// errInterrupted is the error of all that ends early because of a signal.
var errInterrupted = errors.New("interrupted")

// A story is one run of the program.
type story struct {
	*processes
	client *cluster.Client
	begin  time.Time
	made   atomic.Int64 // effects of runs that have ended

	mu     sync.Mutex // guards the fields below
	faults []struck
	errs   []error // of the client
}

// direct starts the sink and the nodes, lets runs make effects while faults strike, and checks what
// has become of them. After a failed check the databases stay.
func direct(ctx context.Context, s settings) (err error) {
	dir, err := os.MkdirTemp("", "effects")
	if err != nil {
		return err
	}
	s.ledger = filepath.Join(dir, "ledger.db")
	if s.journal == "" {
		s.journal = filepath.Join(dir, "journal.db")
	}
	fmt.Printf("seed %d; %d effects; journal in %s\n", s.seed, s.effects, journals.Shown(s.journal))
	r, err := tell(ctx, s)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	if r == nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	r.print()
	if err := r.verdict(); err != nil {
		return fmt.Errorf("%w\nthe databases stay in %s", err, dir)
	}
	return os.RemoveAll(dir)
}

// tell returns a report if all runs have ended.
func tell(ctx context.Context, of settings) (*report, error) {
	jobs := of.plan()
	results, s, err := torment(ctx, of, jobs)
	if err != nil {
		return nil, err
	}
	took := time.Since(s.begin)
	s.say("all runs have ended; the ledger and the journal are checked")
	db, err := openLedger(of.ledger)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	ledger, err := readLedger(ctx, db)
	if err != nil {
		return nil, err
	}
	journal, err := of.open(ctx, of.journal)
	if err != nil {
		return nil, err
	}
	defer journal.Close()
	runs, err := readJournal(ctx, journal, jobs)
	if err != nil {
		return nil, err
	}
	r := compare(jobs, results, ledger, runs)
	r.took, r.faults = took, s.faults
	for _, err := range s.errs {
		r.bad("the client: %v", err)
	}
	return r, nil
}

// torment runs all jobs while faults strike. All processes have ended when it returns.
func torment(ctx context.Context, of settings, jobs []job) (results []int64, s *story, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s = &story{begin: time.Now()}
	s.processes, err = startAll(ctx, of, cancel)
	defer s.close()
	if err != nil {
		return nil, s, err
	}
	if s.client, err = cluster.Dial(ctx, cluster.ClientConfig{Name: clusterName, Contacts: s.binds, Logger: zap.NewNop()}); err != nil {
		return nil, s, err
	}
	defer func() { _ = s.client.Shutdown(context.WithoutCancel(ctx)) }() // the process ends
	if err := s.whole(ctx); err != nil {
		return nil, s, err
	}
	s.say("three nodes and the sink are there")

	s.begin = time.Now()
	striking, calm := context.WithCancel(ctx)
	var lanes sync.WaitGroup
	lane := func(faults []fault, pause time.Duration, stream uint64) <-chan struct{} {
		once := make(chan struct{})
		lanes.Go(func() {
			if err := s.strike(striking, rand.New(rand.NewPCG(of.seed, stream)), faults, pause, once); err != nil {
				cancel(err)
			}
		})
		return once
	}
	once := []<-chan struct{}{lane(s.ofNodes(), time.Second, 1), lane(s.ofSink(), 6*time.Second, 2)}
	lanes.Go(func() { s.progress(striking) })
	results, err = s.make(ctx, jobs, once)
	calm()
	lanes.Wait()
	return results, s, err
}

func (s *story) say(format string, args ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(s.begin).Seconds(), fmt.Sprintf(format, args...))
}

// struck notes a fault.
func (s *story) struck(f struck, what string) {
	s.say("%s; over after %v", what, tenths(f.took))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
}

// complain notes an error of the client.
func (s *story) complain(err error) {
	s.say("%v", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

// progress says every five seconds how many effects the runs have made that have ended, until ctx
// ends.
func (s *story) progress(ctx context.Context) {
	for before := int64(0); sleep(ctx, 5*time.Second); {
		n := s.made.Load()
		left := time.Duration(float64(time.Since(s.begin)) / float64(max(n, 1)) * float64(int64(s.effects)-n))
		s.say("%d of %d effects, %d per second, about %v left", n, s.effects, (n-before)/5, left.Round(time.Second))
		before = n
	}
}
