package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A heard is a monitor of one member, and a clock.
type heard struct {
	monitor
	now time.Time
	id  ID
	seq uint64
}

func newHeard() *heard {
	h := &heard{monitor: newMonitor(LAN()), now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), id: ID{Address: "n2:1", Incarnation: 2}}
	h.watch([]ID{h.id}, h.now)
	return h
}

// pass lets time pass, with heartbeats on the given lanes, and reports whether the member is
// unreachable at the end.
func (h *heard) pass(d time.Duration, datagrams, stream bool) bool {
	var silent []ID
	for end := h.now.Add(d); h.now.Before(end); {
		h.now = h.now.Add(50 * time.Millisecond)
		if h.now.UnixMilli()%100 == 0 {
			h.seq++
			if datagrams {
				h.hear(h.id, heartbeat{Seq: h.seq}, h.now)
			}
			if stream {
				h.hear(h.id, heartbeat{Seq: h.seq, Stream: true}, h.now)
			}
		}
		silent = h.look(h.now)
	}
	return len(silent) > 0
}

func TestAMemberIsUnreachableWhenBothLanesAreSilent(t *testing.T) {
	h := newHeard()
	require.False(t, h.pass(10*time.Second, true, true))
	require.False(t, h.pass(10*time.Second, false, true), "datagrams may get lost")
	require.False(t, h.pass(700*time.Millisecond, false, false))
	require.True(t, h.pass(200*time.Millisecond, false, false))
	require.False(t, h.pass(100*time.Millisecond, true, false), "it speaks again")
}

func TestAMemberThatNoMessageReachesIsUnreachable(t *testing.T) {
	h := newHeard()
	require.False(t, h.pass(10*time.Second, true, true))
	require.False(t, h.pass(4*time.Second, true, false))
	require.True(t, h.pass(2*time.Second, true, false), "datagrams alone do not make it reachable")
	require.False(t, h.pass(100*time.Millisecond, true, true))
}

func TestAMemberThatNeverSpeaksIsNoticed(t *testing.T) {
	h := newHeard()
	require.False(t, h.pass(1600*time.Millisecond, false, false))
	require.True(t, h.pass(400*time.Millisecond, false, false))
}

func TestWhoHasBeenAsleepBlamesNobody(t *testing.T) {
	h := newHeard()
	require.False(t, h.pass(10*time.Second, true, true))
	h.now = h.now.Add(time.Minute)
	require.Empty(t, h.look(h.now))
	require.False(t, h.pass(700*time.Millisecond, false, false))
	require.True(t, h.pass(200*time.Millisecond, false, false), "but only once")
}

func TestWhoFallsAsleepTakesNobodyForLivingAgain(t *testing.T) {
	h := newHeard()
	require.False(t, h.pass(10*time.Second, true, true))
	require.True(t, h.pass(time.Second, false, false))
	h.now = h.now.Add(time.Minute)
	require.Equal(t, []ID{h.id}, h.look(h.now))
	require.True(t, h.pass(200*time.Millisecond, false, false))
	require.False(t, h.pass(100*time.Millisecond, true, true), "only being heard helps")
}

func TestHeartbeatsOfStrangersAreNoBusinessOfTheMonitor(t *testing.T) {
	h := newHeard()
	require.False(t, h.hear(ID{Address: "n3:1", Incarnation: 3}, heartbeat{Seq: 1, Stream: true}, h.now))
	h.watch(nil, h.now)
	require.False(t, h.hear(h.id, heartbeat{Seq: 1, Stream: true}, h.now), "nor are those of a member that is no longer watched")
}

func TestDetectorFillsInDefaults(t *testing.T) {
	require.Equal(t, LAN(), WithDefaults(Detector{}))
	d := WithDefaults(Detector{Pause: time.Second})
	require.Equal(t, time.Second, d.Pause)
	require.Equal(t, LAN().Interval, d.Interval)
	require.NoError(t, CheckDetector(LAN()))
	require.NoError(t, CheckDetector(WAN()))
	require.NoError(t, CheckDetector(Local()))
	require.InDelta(t, 0.85, LAN().detection().Seconds(), 0.01)
	require.InDelta(t, 4.12, WAN().detection().Seconds(), 0.01)
}

func TestDetectorRefusesWhatCannotWork(t *testing.T) {
	for name, spoil := range map[string]func(*Detector){
		"must be positive": func(d *Detector) { d.Interval = -1 },
		"StreamDead 1ms must exceed the silence of 805ms":    func(d *Detector) { d.StreamDead = time.Millisecond },
		"CheckEvery 200ms must not exceed Interval 100ms":    func(d *Detector) { d.CheckEvery = 200 * time.Millisecond },
		"Pause 600ms is shorter than two Intervals of 500ms": func(d *Detector) { d.Interval = 500 * time.Millisecond },
		"ExpectAfter 150ms must be at least two Intervals":   func(d *Detector) { d.ExpectAfter = 150 * time.Millisecond },
		"phi: threshold":      func(d *Detector) { d.Threshold = -1 },
		"phi: at least two s": func(d *Detector) { d.Samples = 1 },
	} {
		d := LAN()
		spoil(&d)
		require.ErrorContains(t, CheckDetector(d), name)
	}
}
