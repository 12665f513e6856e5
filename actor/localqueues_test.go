package actor

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocalQueuesLoseNobodyWhileTheyAreShutAndOpened(t *testing.T) {
	const adders, each = 4, 20_000
	var (
		s    scheduler
		q    = &s.locals
		done = make(chan struct{})
		all  sync.WaitGroup
		seen = map[*core]int{}
	)
	s.mu.Lock()
	q.open(2)
	s.mu.Unlock()
	for range adders {
		all.Go(func() {
			r := new(runner)
			for range each {
				c := new(core)
				if !q.add(c) {
					s.mu.Lock()
					s.push(c)
					s.mu.Unlock()
				}
				for c := q.refill(r, nil); c != nil; c = r.nextOfBatch() {
					s.mu.Lock()
					seen[c]++
					s.mu.Unlock()
				}
			}
		})
	}
	go func() { all.Wait(); close(done) }()
	for n := 1; ; n++ {
		s.mu.Lock()
		q.gather(&s.waiting.fresh)
		q.shut(&s.waiting.fresh)
		for c := s.waiting.pop(); c != nil; c = s.waiting.pop() {
			seen[c]++
		}
		q.open(1 + n%3)
		s.mu.Unlock()
		select {
		case <-done:
			q.shut(&s.waiting.fresh)
			for c := s.waiting.pop(); c != nil; c = s.waiting.pop() {
				seen[c]++
			}
			require.Len(t, seen, adders*each)
			for _, times := range seen {
				require.Equal(t, 1, times)
			}
			return
		default:
		}
	}
}

func TestARunnerGetsAShareOfItsProcessorAndComesBackForTheOthers(t *testing.T) {
	var q localQueues
	q.open(1)
	cores := make([]*core, 8)
	for i := range cores {
		cores[i] = &core{uid: uint64(i)} //nolint:gosec // there are 8
		require.True(t, q.add(cores[i]))
	}
	r, again := new(runner), new(core)
	require.Same(t, cores[0], q.refill(r, again))
	require.Equal(t, cores[1:5], r.batch)
	require.True(t, r.hasBatch)
	for range 4 {
		r.nextOfBatch()
	}
	require.Same(t, cores[5], q.refill(r, nil))
	require.Equal(t, cores[6:8], r.batch)
	require.Same(t, again, q.refill(r, nil), "it came last")
	for n := 9; n < localTurns; n++ {
		require.True(t, q.add(cores[0]))
		require.Same(t, cores[0], q.refill(r, nil))
	}
	require.True(t, q.add(cores[0]))
	require.Nil(t, q.refill(r, nil), "after localTurns actors the scheduler is asked")
	var rest readyQueue
	q.shut(&rest)
	require.Same(t, cores[0], rest.pop())
	require.False(t, q.add(cores[1]))
	require.Nil(t, q.refill(r, nil))
}
