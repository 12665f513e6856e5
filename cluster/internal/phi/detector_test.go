package phi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// akka are the settings that the reference cases assume.
func akka() Settings {
	return Settings{Threshold: 8, Pause: 3 * time.Second, MinStdDev: 100 * time.Millisecond, Samples: 1000, FirstInterval: time.Second}
}

func lan() Settings {
	return Settings{Threshold: 8, Pause: 600 * time.Millisecond, MinStdDev: 20 * time.Millisecond, Samples: 1000, FirstInterval: 100 * time.Millisecond}
}

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func at(milliseconds int) time.Time {
	return epoch.Add(time.Duration(milliseconds) * time.Millisecond)
}

// heartbeats sends n heartbeats, interval milliseconds apart, the first one interval after
// from. It returns the time of the last one.
func heartbeats(d *Detector, from, n, interval int) int {
	for range n {
		from += interval
		d.Heartbeat(at(from))
	}
	return from
}

func TestDetectorIsNotSuspiciousBeforeTheFirstHeartbeat(t *testing.T) {
	d := New(lan())
	require.Zero(t, d.Phi(at(1_000_000)))
	require.True(t, d.Available(at(1_000_000)))
}

func TestDetectorNoticesSilence(t *testing.T) {
	s := akka()
	s.Threshold, s.Pause = 3, 0
	d := New(s)
	for _, ms := range []int{0, 1000, 1100} {
		d.Heartbeat(at(ms))
	}
	require.True(t, d.Available(at(1200)))
	require.False(t, d.Available(at(8200)))
}

func TestDetectorAllowsForTheAcceptablePause(t *testing.T) {
	d := New(akka())
	last := heartbeats(d, 0, 100, 1000)
	require.True(t, d.Available(at(last+4500)))
	require.False(t, d.Available(at(last+4530)))
}

func TestDetectorDoesNotLearnFromAnOutage(t *testing.T) {
	d := New(akka())
	last := heartbeats(d, 0, 1000, 1000)
	last += 5 * 60_000
	require.False(t, d.Available(at(last)), "silent for five minutes")
	d.Heartbeat(at(last))
	require.True(t, d.Available(at(last)), "it speaks again")
	last = heartbeats(d, last, 5, 1000)
	require.False(t, d.Available(at(last+7000)), "and a later gap is noticed as before")
}

func TestDetectorRemembersOnlyTheLastSamples(t *testing.T) {
	s := akka()
	s.Samples, s.Pause = 3, time.Second
	d := New(s)
	last := heartbeats(d, 0, 5, 100)
	before := d.Phi(at(last + 100 + 1000))
	last = heartbeats(d, last, 4, 500)
	require.InDelta(t, before, d.Phi(at(last+500+1000)), 0.001)
}

func TestDetectorExpectsAFirstHeartbeat(t *testing.T) {
	d := New(lan())
	d.Expect(at(1000))
	require.True(t, d.Available(at(1700)))
	require.False(t, d.Available(at(2000)))
	d.Heartbeat(at(3000))
	d.Expect(at(9000))
	require.False(t, d.Available(at(9000)), "expecting again does not renew anything")
}

func TestDetectorForgives(t *testing.T) {
	d := New(lan())
	last := heartbeats(d, 0, 1000, 100)
	mean := d.intervals.mean()
	d.Forgive(at(last + 5000))
	require.True(t, d.Available(at(last+5500)))
	require.False(t, d.Available(at(last+6000)))
	require.InDelta(t, mean, d.intervals.mean(), 0, "what was slept through is not learnt")

	silent := New(lan())
	silent.Forgive(at(10))
	require.Zero(t, silent.Phi(at(1_000_000)), "there is nothing to forgive")
}

func TestDetectorIgnoresTimeThatGoesBack(t *testing.T) {
	d := New(lan())
	last := heartbeats(d, 0, 100, 100)
	d.Heartbeat(at(last - 50))
	require.InDelta(t, d.Phi(at(last+700)), suspicion(0), 0.001)
	require.Less(t, d.Phi(at(last-5000)), 1e-6)
}

func TestDetectorsAreIndependent(t *testing.T) {
	a, b := New(lan()), New(lan())
	heartbeats(a, 0, 10, 100)
	b.Heartbeat(at(1000))
	b.Heartbeat(at(9000))
	require.False(t, a.Available(at(9000)))
	require.True(t, b.Available(at(9000)))
}

func TestSilenceIsWhenTheDetectorGivesUp(t *testing.T) {
	require.InDelta(t, 0.805, lan().Silence(100*time.Millisecond).Seconds(), 0.001)
	require.InDelta(t, 4.52, akka().Silence(time.Second).Seconds(), 0.01)

	d := New(lan())
	last := heartbeats(d, 0, 2000, 100)
	silence := lan().Silence(100 * time.Millisecond)
	require.True(t, d.Available(at(last).Add(silence-time.Millisecond)))
	require.False(t, d.Available(at(last).Add(silence+time.Millisecond)))
}

func TestSettingsAreValidated(t *testing.T) {
	require.NoError(t, lan().Validate())
	for name, spoil := range map[string]func(*Settings){
		"threshold":          func(s *Settings) { s.Threshold = 0 },
		"pause":              func(s *Settings) { s.Pause = -1 },
		"standard deviation": func(s *Settings) { s.MinStdDev = 0 },
		"samples":            func(s *Settings) { s.Samples = 1 },
		"first interval":     func(s *Settings) { s.FirstInterval = 0 },
	} {
		s := lan()
		spoil(&s)
		require.ErrorContains(t, s.Validate(), name)
	}
}

func TestAvailableIsPhiBelowTheThreshold(t *testing.T) {
	for _, threshold := range []float64{0.1, 1, 3, 8, 16} {
		s := lan()
		s.Threshold = threshold
		d := New(s)
		last := heartbeats(d, 0, 50, 100)
		last = heartbeats(d, last, 50, 130)
		for ms := range 2000 {
			now := at(last + ms)
			require.Equal(t, d.Phi(now) < threshold, d.Available(now), "threshold %v, %d ms", threshold, ms)
		}
	}
}
