package lease

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

var firstSeed = flag.Uint64("seed", 0, "of the first history; 0 picks one")

// The clocks of the holders differ in rate, are set, and stand still while a machine is suspended.
// Requests are lost, late, repeated, or carried out after they were given up. No holder may believe
// to hold a lease that the store has given to another, or might give.
func TestNoHistoryHasTwoHolders(t *testing.T) {
	seed := *firstSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	histories := effort.Count(100, 2000, 10_000)
	t.Logf("%d histories from seed %d: repeat one with "+effort.Variable+"=1 and -seed=", histories, seed)
	acquired := 0
	for i := range histories {
		s := newSim(seed + uint64(i))
		if err := s.run(); err != nil {
			t.Fatalf("seed %d: %v", seed+uint64(i), err)
		}
		acquired += s.acquired
	}
	t.Logf("%d acquisitions", acquired)
	require.GreaterOrEqual(t, acquired, histories, "the histories have too many faults to show anything")
}

const (
	simTTL    = 10 * time.Second
	simDrift  = 0.05
	simLength = 90 * time.Second // with faults
	simEnd    = simLength + 30*time.Second
)

// A sim is one history: holders, their links, and a store that knows what happens.
type sim struct {
	rng      *rand.Rand
	now      time.Duration // true time
	queue    []simEvent    // sorted
	holders  []*simHolder
	acquired int
	err      error

	rate    float64 // of the store's clock
	bumps   bool    // it gives a new token for each Take, also by its holder
	judged  bool    // each contender judges expiry, by how long it has seen no change
	version int     // of the record
	holder  *simHolder
	token   uint64
	expires time.Duration // true time, by the store's clock
	outage  time.Duration // until then
}

type simEvent struct {
	at time.Duration
	do func()
}

// A simHolder is one machine, on one computer.
type simHolder struct {
	sim     *sim
	name    string
	machine *machine
	rate    float64
	day     time.Duration // what is added to the time of day
	asleep  time.Duration // for how long its steady clock has stood still
	sleeps  bool          // its machine is suspended at times
	paused  bool
	inbox   []any // of a paused one

	valid   bool
	sent    moment
	wakes   int // how many timers were set
	request *simRequest
	lastID  int
	open    map[int]bool // calls without an answer, and whether a caller still waits
	tokens  uint64       // the last one

	seen   int           // the version of the record, where contenders judge
	seenAt time.Duration // since when, by the steady clock
}

type simRequest struct {
	answered bool
	deaf     bool // its store does not listen to contexts
}

func newSim(seed uint64) *sim {
	s := &sim{rng: rand.New(rand.NewPCG(seed, 1))}
	s.rate = s.drifted()
	s.bumps = s.rng.IntN(2) == 0
	s.judged = s.rng.IntN(2) == 0
	settings := Settings{TTL: simTTL, Drift: simDrift}.withDefaults()
	for i := range 2 + s.rng.IntN(4) {
		name := fmt.Sprint("h", i)
		s.holders = append(s.holders, &simHolder{
			sim: s, name: name, rate: s.drifted(), sleeps: i%2 == 0, open: map[int]bool{},
			day:     time.Duration(s.rng.IntN(7200)-3600) * time.Second,
			machine: newMachine(Claim{Name: "x", Holder: name, TTL: simTTL}, settings),
		})
	}
	return s
}

// drifted returns a rate that is wrong by up to the drift, and often by all of it.
func (s *sim) drifted() float64 {
	switch s.rng.IntN(4) {
	case 0:
		return 1 - simDrift
	case 1:
		return 1 + simDrift
	default:
		return 1 + simDrift*(2*s.rng.Float64()-1)
	}
}

func (s *sim) after(d time.Duration, do func()) {
	e := simEvent{at: s.now + max(0, d), do: do}
	i, _ := slices.BinarySearchFunc(s.queue, e, func(a, b simEvent) int {
		if a.at > b.at {
			return 1
		}
		return -1 // behind its equals
	})
	s.queue = slices.Insert(s.queue, i, e)
}

func (s *sim) random(d time.Duration) time.Duration {
	return time.Duration(s.rng.Float64() * float64(d))
}

func (s *sim) faulty() bool { return s.now < simLength }

func (s *sim) failf(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("at %v: "+format, append([]any{s.now}, args...)...)
	}
}

func (s *sim) run() error {
	for _, h := range s.holders {
		s.after(s.random(time.Second), h.live)
		s.after(s.random(40*time.Second), h.suffer)
	}
	s.after(s.random(40*time.Second), s.fail)
	for len(s.queue) > 0 && s.err == nil {
		e := s.queue[0]
		s.queue = s.queue[1:]
		// What a holder believes ends between two events, so just before is the worst moment.
		if e.at > s.now {
			s.now = e.at - 1
			s.check()
		}
		s.now = e.at
		e.do()
		s.check()
	}
	s.quiet()
	return s.err
}

// check compares what the holders believe with what the store knows.
func (s *sim) check() {
	for _, h := range s.holders {
		if !h.believes() {
			continue
		}
		if s.holder != h {
			s.failf("%s believes to hold what the store has not noted for it", h.name)
		} else if !s.judged && s.now >= s.expires {
			s.failf("%s believes to hold what has expired %v ago", h.name, s.now-s.expires)
		}
	}
}

// quiet checks that nothing is left when all is over.
func (s *sim) quiet() {
	for _, h := range s.holders {
		maps.DeleteFunc(h.open, func(_ int, waits bool) bool { return !waits })
		if h.machine.state != free || h.machine.request.op != opNone || len(h.open) > 0 {
			s.failf("%s is %v in the end, with %v under way and %d calls that wait",
				h.name, h.machine.state, h.machine.request.op, len(h.open))
		}
	}
}

// fail takes the store away now and then.
func (s *sim) fail() {
	if s.faulty() {
		s.outage = s.now + s.random(2*simTTL)
		s.after(s.random(40*time.Second), s.fail)
	}
}

func (h *simHolder) moment() moment {
	own := time.Duration(float64(h.sim.now) * h.rate)
	return moment{steady: own - h.asleep, day: own + h.day}
}

func (h *simHolder) believes() bool {
	return h.valid && h.moment().since(h.sent) < h.machine.settings.bound()
}

// live makes the calls of the program.
func (h *simHolder) live() {
	s := h.sim
	if s.now >= simEnd {
		h.call(func(id int) any { return evRelease{id: id} })
		return
	}
	switch s.rng.IntN(5) {
	case 0, 1, 2:
		floor := uint64(0)
		if s.rng.IntN(6) == 0 {
			floor = h.tokens + uint64(s.rng.IntN(3))
		}
		id := h.call(func(id int) any { return evAcquire{id: id, floor: floor} })
		if s.rng.IntN(3) == 0 {
			s.after(s.random(5*time.Second), func() {
				if h.open[id] {
					h.open[id] = false
					h.deliver(evAbandon{id: id})
				}
			})
		}
	case 3:
		h.call(func(id int) any { return evRelease{id: id} })
	case 4: // nothing for a while
	}
	s.after(s.random(simTTL), h.live)
}

func (h *simHolder) call(event func(id int) any) int {
	h.lastID++
	id := h.lastID
	h.open[id] = true
	h.deliver(event(id))
	return id
}

// suffer stops the holder, suspends its machine or sets its clock. The clock of a machine
// that is suspended is not set back as well: no clock could tell then.
func (h *simHolder) suffer() {
	s := h.sim
	if !s.faulty() {
		return
	}
	s.after(s.random(40*time.Second), h.suffer)
	if h.paused {
		return
	}
	d := s.random(2 * simTTL)
	switch s.rng.IntN(4) {
	case 0:
		h.paused = true
		s.after(d, h.resume)
	case 1:
		if !h.sleeps {
			h.day -= s.random(time.Hour)
			return
		}
		h.paused = true
		begin := s.now
		var tick func()
		tick = func() {
			const beat = 50 * time.Millisecond
			h.asleep += time.Duration(float64(beat) * h.rate)
			if s.now-begin < d {
				s.after(beat, tick)
			} else {
				h.resume()
			}
		}
		s.after(50*time.Millisecond, tick)
	case 2:
		h.day += s.random(time.Hour)
	case 3: // nothing for a while
	}
}

func (h *simHolder) resume() {
	h.paused = false
	inbox := h.inbox
	h.inbox = nil
	for _, ev := range inbox {
		h.deliver(ev)
	}
	h.deliver(evWake{})
}

func (h *simHolder) deliver(ev any) {
	if h.paused {
		h.inbox = append(h.inbox, ev)
		return
	}
	now := h.moment()
	invalid := false
	for _, ac := range h.machine.step(now, ev) {
		switch ac := ac.(type) {
		case acSend:
			h.send(ac)
		case acCancel:
			h.cancel()
		case acValid:
			h.validate(ac)
		case acInvalid:
			h.valid, invalid = false, true
		case acLost:
			if !invalid {
				h.sim.failf("%s is told of a loss, and has lost nothing", h.name)
			}
			invalid = false
		case acAcquired:
			h.answered(ac.id)
			if ac.held && !h.believes() {
				h.sim.failf("%s is told to hold what is not valid", h.name)
			}
		case acReleased:
			h.answered(ac.id)
		}
	}
	h.setTimer(now)
}

func (h *simHolder) validate(ac acValid) {
	if !h.valid || ac.token != h.tokens {
		if ac.token <= h.tokens {
			h.sim.failf("%s has got token %d after %d", h.name, ac.token, h.tokens)
		}
		h.sim.acquired++
	}
	h.valid, h.sent, h.tokens = true, ac.sent, ac.token
}

func (h *simHolder) answered(id int) {
	if _, ok := h.open[id]; !ok {
		h.sim.failf("%s has two answers for call %d", h.name, id)
	}
	delete(h.open, id)
}

func (h *simHolder) setTimer(now moment) {
	h.wakes++
	mine := h.wakes
	if d := h.machine.wake(now); d != never {
		h.sim.after(time.Duration(float64(d)/h.rate)+2, func() {
			if mine == h.wakes {
				h.deliver(evWake{})
			}
		})
	}
}

// send lets a request meet its fate.
func (h *simHolder) send(ac acSend) {
	s := h.sim
	if h.request != nil && !h.request.answered {
		s.failf("%s sends a request while another is under way", h.name)
	}
	r := &simRequest{deaf: s.faulty() && s.rng.IntN(10) == 0}
	h.request = r
	there, back := s.travel(), s.travel()
	lostThere, lostBack := s.faulty() && s.rng.IntN(8) == 0, s.faulty() && s.rng.IntN(8) == 0
	s.after(there, func() {
		if lostThere || s.now < s.outage {
			s.after(back, func() { h.answer(r, Grant{}, errSim) })
			return
		}
		g, err := s.serve(h, ac)
		s.after(back, func() {
			if lostBack {
				g, err = Grant{}, errSim
			}
			h.answer(r, g, err)
		})
	})
}

var errSim = errors.New("nobody knows")

// travel draws how long a message is under way: sometimes longer than any timeout.
func (s *sim) travel() time.Duration {
	switch {
	case s.faulty() && s.rng.IntN(10) == 0:
		return s.random(2 * simTTL)
	case s.faulty() && s.rng.IntN(5) == 0:
		return s.random(4 * time.Second)
	default:
		return s.random(20 * time.Millisecond)
	}
}

// cancel ends a request for its holder; the store may get it all the same, later.
func (h *simHolder) cancel() {
	if r := h.request; r != nil && !r.deaf {
		h.sim.after(0, func() { h.answer(r, Grant{}, errSim) })
	}
}

func (h *simHolder) answer(r *simRequest, g Grant, err error) {
	if !r.answered {
		r.answered = true
		h.deliver(evAnswer{grant: g, err: err})
	}
}

// serve is what a store does.
func (s *sim) serve(h *simHolder, ac acSend) (Grant, error) {
	expired := s.expired(h)
	switch ac.op {
	case opTake:
		if s.holder != nil && s.holder != h && !expired {
			return Grant{}, ErrHeld
		}
		if s.holder != h || expired || s.bumps || s.token <= ac.claim.Floor {
			s.token = max(s.token, ac.claim.Floor) + 1
		}
		s.holder = h
		s.write(h)
		return Grant{Claim: ac.claim, Token: s.token}, nil
	case opRenew:
		if s.holder != h || s.token != ac.grant.Token || expired {
			return Grant{}, ErrLost
		}
		s.write(h)
		return ac.grant, nil
	case opRelease:
		if s.holder == h && s.token == ac.grant.Token {
			s.holder = nil
			s.write(h)
		}
	case opNone:
		s.failf("a request for nothing")
	}
	return Grant{}, nil
}

// expired judges by the store's clock, or by the clock of h.
func (s *sim) expired(h *simHolder) bool {
	if !s.judged {
		return s.now >= s.expires
	}
	steady := h.moment().steady
	if h.seen != s.version {
		h.seen, h.seenAt = s.version, steady
	}
	return steady-h.seenAt >= simTTL
}

// write notes that h has changed the record.
func (s *sim) write(h *simHolder) {
	s.expires = s.now + time.Duration(float64(simTTL)/s.rate)
	s.version++
	h.seen, h.seenAt = s.version, h.moment().steady
}
