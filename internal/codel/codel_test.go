package codel_test

import (
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codel"
)

const ms = time.Millisecond

// served says what became of requests that came to a queue.
type served struct{ inTime, late, refused int }

// simulate serves requests that arrive at some times. Each takes so long, and has a deadline.
func simulate(arrivals []time.Duration, takes, deadline time.Duration) (s served) {
	var d codel.Delay
	now := time.Hour
	begin := now
	for len(arrivals) > 0 {
		at := begin + arrivals[0]
		arrivals = arrivals[1:]
		if now < at {
			now, d = at, codel.Delay{}
		}
		left := deadline - (now - at)
		waiting := func() int {
			return sort.Search(len(arrivals), func(i int) bool { return begin+arrivals[i] > now })
		}
		switch {
		case left <= 0:
			s.refused++
		case d.Matters(left, deadline) && d.Refuses(left, deadline, now, waiting):
			s.refused++
		default:
			now += takes
			d.Took(takes)
			if takes <= left {
				s.inTime++
			} else {
				s.late++
			}
		}
	}
	return s
}

func at(every time.Duration, n int) (all []time.Duration) {
	for i := range n {
		all = append(all, time.Duration(i)*every)
	}
	return all
}

func TestUnderOverloadMostOfTheCapacityIsAnsweredInTime(t *testing.T) {
	for _, times := range []int{2, 3, 10, 100} {
		for _, takes := range []time.Duration{ms, 10 * ms, 100 * ms, 400 * ms} {
			n := int(20 * time.Second / takes)
			s := simulate(at(takes/time.Duration(times), n*times), takes, time.Second)
			require.Greater(t, s.inTime, n*8/10, "%d times, %v: %+v", times, takes, s)
			require.Less(t, s.late, n/10, "%d times, %v: %+v", times, takes, s)
		}
	}
}

func TestABurstThatCanBeAnsweredInTimeIsServed(t *testing.T) {
	for takes, n := range map[time.Duration]int{18 * ms: 40, 5 * ms: 140, 70 * ms: 10} {
		require.Equal(t, served{inTime: n}, simulate(at(0, n), takes, time.Second))
	}
	require.Equal(t, served{inTime: 150}, simulate(at(0, 150), 20*ms, 5*time.Second))
}

func TestAQueueThatIsNeverEmptyDoesNotRefuseForEver(t *testing.T) {
	var d codel.Delay
	now := time.Hour
	d.Took(30 * time.Second) // one hiccup
	refused := 0
	for range 100 {
		now += 5 * time.Second
		if d.Matters(time.Second, time.Second) && d.Refuses(time.Second, time.Second, now, func() int { return 1 }) {
			refused++
			continue
		}
		d.Took(ms)
	}
	require.Zero(t, refused, "each is the first for longer than a deadline")
}

func TestLongDeadlinesDoNotHideThatShortOnesAreMissed(t *testing.T) {
	var d codel.Delay
	now := time.Hour
	waits := func() int { return 1000 }
	for range 10 {
		now += 30 * ms
		d.Took(10 * ms)
		d.Refuses(700*ms, time.Second, now, waits)
		require.False(t, d.Refuses(time.Minute-300*ms, time.Minute, now, waits), "it has waited for little, of its time")
	}
	now += 30 * ms
	require.True(t, d.Refuses(700*ms, time.Second, now, waits))
}
