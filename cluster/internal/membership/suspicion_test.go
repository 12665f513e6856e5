package membership

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// Conditions describe what a network and its hosts do to heartbeats.
type conditions struct {
	name          string
	jitter        time.Duration // how late a heartbeat is sent, on average
	delay         time.Duration // of the network, on average, on top of 0.2 ms
	spikes        time.Duration // how long one heartbeat in a hundred is held up, at most
	loss          float64       // of each datagram and each segment
	datagramsOnly bool
	bursts        float64 // per day, in which everything is lost, 150 ms on average
	stops         float64 // how many times as often as usual the subject is stopped
	observerStops float64 // the same for the observer
	hard          bool    // presets need not keep a bound here
}

// stopsPerDay lists how often a process is stopped per day, and for how long, as by throttling,
// swapping, garbage collection or migration. It describes a bad neighbourhood.
var stopsPerDay = []struct {
	count     float64
	low, high time.Duration
}{
	{200, 50 * time.Millisecond, 150 * time.Millisecond},
	{20, 150 * time.Millisecond, 400 * time.Millisecond},
	{2, 400 * time.Millisecond, time.Second},
	{0.2, time.Second, 3 * time.Second},
}

const burstMean = 150 * time.Millisecond

func allConditions() []conditions {
	quiet := conditions{name: "quiet", jitter: 200 * time.Microsecond, delay: 300 * time.Microsecond, spikes: 5 * time.Millisecond}
	with := func(name string, change func(*conditions)) conditions {
		c := quiet
		c.name = name
		change(&c)
		return c
	}
	return []conditions{
		quiet,
		with("busy", func(c *conditions) {
			c.jitter, c.delay, c.spikes = 5*time.Millisecond, 5*time.Millisecond, 100*time.Millisecond
		}),
		with("1 % loss, datagrams only", func(c *conditions) { c.loss, c.datagramsOnly, c.hard = 0.01, true, true }),
		with("5 % loss, datagrams only", func(c *conditions) { c.loss, c.datagramsOnly, c.hard = 0.05, true, true }),
		with("10 % loss, datagrams only", func(c *conditions) { c.loss, c.datagramsOnly, c.hard = 0.10, true, true }),
		with("1 % loss", func(c *conditions) { c.loss = 0.01 }),
		with("5 % loss", func(c *conditions) { c.loss = 0.05 }),
		with("10 % loss", func(c *conditions) { c.loss = 0.10 }),
		with("bursts", func(c *conditions) { c.bursts, c.hard = 50, true }),
		with("stops", func(c *conditions) { c.stops = 1 }),
		with("stops of both", func(c *conditions) { c.stops, c.observerStops = 1, 1 }),
		with("stops of both, 20 x", func(c *conditions) { c.stops, c.observerStops, c.hard = 20, 20, true }),
	}
}

// A span is a period in which something does not work.
type span struct{ from, to time.Duration }

func (s span) holds(t time.Duration) bool { return s.from <= t && t < s.to }

// Spans are random periods, one after the other.
type spans struct {
	random *rand.Rand
	rates  []float64 // per day
	length func(kind int) time.Duration
	next   []time.Duration // when each kind comes
	past   []span          // the latest, oldest first
}

func newSpans(random *rand.Rand, rates []float64, length func(kind int) time.Duration) *spans {
	s := &spans{random: random, rates: rates, length: length, next: make([]time.Duration, len(rates))}
	for kind := range rates {
		s.next[kind] = s.wait(kind)
	}
	return s
}

func (s *spans) wait(kind int) time.Duration {
	if s.rates[kind] == 0 {
		return 1 << 62
	}
	return time.Duration(s.random.ExpFloat64() / s.rates[kind] * float64(24*time.Hour))
}

// until draws all spans that begin before t.
func (s *spans) until(t time.Duration) {
	for kind, at := range s.next {
		if at >= t {
			continue
		}
		s.past = append(s.past, span{at, at + s.length(kind)})
		slices.SortFunc(s.past, func(a, b span) int { return int(a.from - b.from) })
		if len(s.past) > 4 {
			s.past = s.past[1:]
		}
		s.next[kind] = at + s.wait(kind)
	}
}

// end returns the end of the span at t, or t itself if no span is there.
func (s *spans) end(t time.Duration) time.Duration {
	for _, each := range s.past {
		if each.holds(t) {
			t = each.to
		}
	}
	return t
}

// longest returns the length of the longest span that overlaps a period.
func (s *spans) longest(from, to time.Duration) time.Duration {
	var longest time.Duration
	for _, each := range s.past {
		if each.from < to && from < each.to {
			longest = max(longest, each.to-each.from)
		}
	}
	return longest
}

// A pair is one observer and one subject. It uses the monitor of the machine; everything else
// is random.
type pair struct {
	conditions
	random   *rand.Rand
	monitor  monitor
	begin    time.Time
	id       ID
	sender   *spans
	receiver *spans
	bursts   *spans

	seq      uint64
	due      time.Duration // when the next heartbeat is
	stream   time.Duration // when the last one on the TCP stream arrives, behind which all others queue
	arrivals []arrival     // on the way, the next first
	heard    time.Duration
	looked   time.Duration

	stopped int // suspicions of a subject that was stopped for too long
	cutOff  int // of one from which the network let nothing through for too long
	stuck   int // of one whose TCP lane let nothing through for StreamDead, as it sent again and again
	wrong   int // all others
}

type arrival struct {
	at     time.Duration
	seq    uint64
	stream bool
}

func newPair(set Detector, c conditions, seed uint64) *pair {
	p := &pair{conditions: c, random: rand.New(rand.NewPCG(seed, 99)), begin: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
	if c.datagramsOnly {
		set.StreamDead = 1 << 60
	}
	p.monitor, p.id = newMonitor(set), ID{Address: "n2:1", Incarnation: 2}
	p.monitor.watch([]ID{p.id}, p.begin)
	p.looked = time.Duration(p.random.Int64N(int64(set.CheckEvery)))
	stops := func(times float64) *spans {
		rates := make([]float64, len(stopsPerDay))
		for i, s := range stopsPerDay {
			rates[i] = times * s.count
		}
		return newSpans(p.random, rates, func(kind int) time.Duration {
			s := stopsPerDay[kind]
			return s.low + time.Duration(p.random.Int64N(int64(s.high-s.low)))
		})
	}
	p.sender, p.receiver = stops(c.stops), stops(c.observerStops)
	p.bursts = newSpans(p.random, []float64{c.bursts}, func(int) time.Duration {
		return time.Duration(p.random.ExpFloat64() * float64(burstMean))
	})
	return p
}

// run lets heartbeats come until a time.
func (p *pair) run(end time.Duration) {
	for p.due < end {
		p.sender.until(p.due)
		p.bursts.until(p.due + 10*time.Second)
		sent := p.sender.end(p.due)
		if sent > p.due {
			p.due = sent + p.monitor.set.Interval // it was paused
		} else {
			p.due += p.monitor.set.Interval
		}
		sent += p.chance(p.jitter)
		p.deliverUntil(sent)
		p.send(sent)
	}
}

func (p *pair) chance(mean time.Duration) time.Duration {
	return time.Duration(p.random.ExpFloat64() * float64(mean))
}

func (p *pair) travel() time.Duration {
	d := 200*time.Microsecond + p.chance(p.delay)
	if p.random.Uint32N(100) == 0 {
		d += time.Duration(p.random.Int64N(int64(p.spikes)))
	}
	return d
}

func (p *pair) lost(at time.Duration) bool {
	return p.loss > 0 && p.random.Float64() < p.loss || p.bursts.end(at) > at
}

// send sends both copies. TCP retransmits after 200 ms, then after twice as long, and so on.
func (p *pair) send(at time.Duration) {
	p.seq++
	if !p.lost(at) {
		p.put(arrival{at + p.travel(), p.seq, false})
	}
	if p.datagramsOnly {
		return
	}
	for again := 200 * time.Millisecond; p.lost(at); again *= 2 {
		at += again
	}
	p.stream = max(p.stream, at+p.travel())
	p.put(arrival{p.stream, p.seq, true})
}

func (p *pair) put(a arrival) {
	i := len(p.arrivals)
	for i > 0 && p.arrivals[i-1].at > a.at {
		i--
	}
	p.arrivals = slices.Insert(p.arrivals, i, a)
}

// deliverUntil delivers to the observer what arrives before t, with checks in between.
func (p *pair) deliverUntil(t time.Duration) {
	for len(p.arrivals) > 0 && p.arrivals[0].at <= t {
		a := p.arrivals[0]
		p.arrivals = append(p.arrivals[:0], p.arrivals[1:]...)
		p.receiver.until(a.at)
		awake := p.receiver.end(a.at)
		p.lookUntil(awake)
		p.monitor.hear(p.id, heartbeat{Seq: a.seq, Stream: a.stream}, p.begin.Add(awake))
		if s := p.monitor.subjects[p.id]; s.seq == a.seq {
			p.heard = awake
		}
	}
	p.lookUntil(min(t, p.receiver.end(t)))
}

// lookUntil checks the member as often as the machine does, except for checks that cannot find
// anything: soon after a heartbeat every member is available.
func (p *pair) lookUntil(t time.Duration) {
	set := p.monitor.set
	for {
		next := p.looked + set.CheckEvery
		stuck := p.monitor.subjects[p.id].stream.Sub(p.begin) + set.StreamDead/2
		if quiet := min(p.heard+set.Pause/2, max(stuck, 0)); next < quiet && p.receiver.end(quiet) == quiet && p.receiver.longest(p.looked, quiet) == 0 {
			skipped := (quiet - next) / set.CheckEvery * set.CheckEvery
			if next+skipped > t {
				return
			}
			next += skipped
			p.monitor.last = p.begin.Add(next - set.CheckEvery)
		}
		next = p.receiver.end(next)
		if next > t {
			return
		}
		p.looked = next
		p.look(next)
	}
}

// look checks the subject, and counts a suspicion by its cause.
func (p *pair) look(t time.Duration) {
	s := p.monitor.subjects[p.id]
	before := s.silent
	p.monitor.look(p.begin.Add(t))
	if before || !s.silent {
		return
	}
	tooLong := p.monitor.set.phi().Silence(0)
	switch from := p.heard - p.monitor.set.Interval; {
	case p.sender.longest(from, t) >= tooLong:
		p.stopped++
	case p.bursts.longest(from, t) >= tooLong:
		p.cutOff++
	case s.detector.Available(p.begin.Add(t)):
		p.stuck++
	default:
		p.wrong++
	}
}

// detections kills the subject at random moments, and returns the detection times of the
// observer, sorted.
func detections(set Detector, c conditions, kills int) []time.Duration {
	var all []time.Duration
	for seed := range uint64(kills) {
		p := newPair(set, c, seed)
		killed := time.Minute + time.Duration(p.random.Int64N(int64(set.Interval)))
		p.run(killed)
		p.deliverUntil(killed + time.Second/2)
		for t := killed + time.Second/2; !p.monitor.subjects[p.id].silent; t += time.Millisecond {
			p.lookUntil(t)
		}
		all = append(all, p.looked-killed)
	}
	slices.Sort(all)
	return all
}

const (
	pairsPerNode  = observersOf
	daysPerMonth  = 30
	pairDaysMonth = pairsPerNode * daysPerMonth // per node and month
)

// The real monitor, in the conditions of a local network: how soon it notices a killed node,
// and how often it suspects a living one. With
//
//	UNDERSTUDY_EFFORT=270 go test ./cluster/internal/membership -run TestSuspicionsUnderJitterLossAndStops -v -timeout 0
//
// it simulates 270 days of one observer and one subject in each condition. That makes a node and
// month, as each node has nine observers.
func TestSuspicionsUnderJitterLossAndStops(t *testing.T) {
	pairDays := effort.Count(0.01, 0.04, 0.1)
	months := pairDays / pairDaysMonth
	for _, preset := range []struct {
		name string
		set  Detector
		max  time.Duration // of a detection
	}{{"LAN", LAN(), time.Second}, {"WAN", WAN(), 5 * time.Second}, {"Local", Local(), 700 * time.Millisecond}} {
		quiet := detections(preset.set, allConditions()[0], max(100, min(500, int(5000*pairDays))))
		at := func(q float64) time.Duration { return quiet[int(q*float64(len(quiet)-1))].Round(time.Millisecond) }
		t.Logf("%s: detection p50 %v, p99 %v, max %v", preset.name, at(0.5), at(0.99), at(1))
		require.Less(t, at(1), preset.max)
		for i, c := range allConditions() {
			t.Run(preset.name+" "+c.name, func(t *testing.T) {
				p := newPair(preset.set, c, uint64(i))
				p.run(time.Duration(pairDays * float64(24*time.Hour)))
				t.Logf("%8.3g node-months: stopped %5d, cut off %5d, stuck %5d, false %5d", months, p.stopped, p.cutOff, p.stuck, p.wrong)
				if preset.name == "LAN" && !c.hard {
					require.Less(t, float64(p.wrong), max(months, 1), "false suspicions")
				}
			})
		}
	}
}
