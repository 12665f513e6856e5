package membership

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
)

// A world simulates nodes that consist of their machines only. It holds the clock, the network
// and everything that can go wrong. One seed determines one history.
type world struct {
	t       tester
	random  *rand.Rand
	now     time.Time
	begin   time.Time
	queue   occurrences
	nodes   []*simNode
	at      map[string]*simNode // by address
	cuts    map[[2]int]int      // by from and to: how many faults cut the link
	loss    float64
	rough   map[[2]int]time.Time // if not nil: no datagram arrives, and TCP keeps its order; until when each link is busy
	healed  bool                 // all faults have ended before their time
	log     []string
	carried int // messages that were sent
	lease   simLease
	finds   func(node int) (addresses []string, failed bool) // the answer of discovery to a node
	tune    func(*Settings)
	moved   map[transition]int // how often each was decided

	disturbed time.Time // the last change for the better or the worse
	promise   promise
	kept      int  // promises
	apart     bool // see checkApart
}

// A tester is the part of a test that a world needs.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
}

// A simNode is a host, and the process that may run there.
type simNode struct {
	world    *world
	index    int
	address  string
	machine  *Machine // nil if no process runs
	hostUp   bool     // if false, connections are not even refused
	pausedTo time.Time
	held     []func() // calls that wait for the end of the pause
	process  int      // number of processes started here
	shown    View
	version  uint64 // of the view that was checked last
	statuses map[ID]Status
}

// An occurrence is a call, or the arrival of a message if do is nil.
type occurrence struct {
	do func()
	delivery
}

// A delivery is a message on its way.
type delivery struct {
	from, target *simNode
	sender, to   ID
	msg          message
	datagram     bool
	delay        time.Duration
}

// Occurrences are what is to happen, in order. The heap has no pointers, and places are used again,
// so that the collector has little to do.
type occurrences struct {
	heap   []due
	places []occurrence
	free   []int
	count  int
}

// A due says when the occurrence in a place happens.
type due struct {
	at    time.Duration // since the world began
	order int
	place int
}

func (d due) before(o due) bool { return d.at < o.at || d.at == o.at && d.order < o.order }

func (o *occurrences) push(at time.Duration, what occurrence) {
	place := len(o.places)
	if last := len(o.free) - 1; last >= 0 {
		place, o.free = o.free[last], o.free[:last]
		o.places[place] = what
	} else {
		o.places = append(o.places, what)
	}
	o.count++
	o.heap = append(o.heap, due{at, o.count, place})
	h, i := o.heap, len(o.heap)-1
	for up := (i - 1) / 2; i > 0 && h[i].before(h[up]); up = (i - 1) / 2 {
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (o *occurrences) pop() (at time.Duration, what occurrence) {
	first, last := o.heap[0], len(o.heap)-1
	o.heap[0], o.heap = o.heap[last], o.heap[:last]
	h := o.heap
	for i := 0; ; {
		least := i
		for _, down := range []int{2*i + 1, 2*i + 2} {
			if down < last && h[down].before(h[least]) {
				least = down
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	what = o.places[first.place]
	o.places[first.place] = occurrence{}
	o.free = append(o.free, first.place)
	return first.at, what
}

// by reports whether something happens until then.
func (o *occurrences) by(then time.Duration) bool { return len(o.heap) > 0 && o.heap[0].at <= then }

func newWorld(t tester, seed uint64, size int) *world {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	w := &world{
		t:      t,
		random: rand.New(rand.NewPCG(seed, 1)),
		now:    begin,
		begin:  begin,
		at:     map[string]*simNode{},
		cuts:   map[[2]int]int{},
		tune:   func(*Settings) {},
		moved:  map[transition]int{},
	}
	for i := range size {
		n := &simNode{world: w, index: i, address: fmt.Sprintf("n%d:1", i+1), hostUp: true, statuses: map[ID]Status{}}
		w.nodes, w.at[n.address] = append(w.nodes, n), n
	}
	return w
}

func (w *world) address(i int) string { return w.nodes[i].address }

func (w *world) node(address string) *simNode { return w.at[address] }

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%9.3f ", w.now.Sub(w.begin).Seconds())+fmt.Sprintf(format, args...))
}

func (w *world) after(d time.Duration, do func()) {
	w.queue.push(w.now.Sub(w.begin)+d, occurrence{do: do})
}

// run lets time pass, and checks the invariants ten times a second.
func (w *world) run(d time.Duration) {
	end := w.now.Add(d)
	for next := w.now; w.now.Before(end); next = next.Add(100 * time.Millisecond) {
		w.occurUntil(next)
		w.now = next
		w.checkLeaders()
		w.checkPromise()
		w.checkApart()
	}
}

// occurUntil executes the events until then.
func (w *world) occurUntil(then time.Time) {
	for end := then.Sub(w.begin); w.queue.by(end); {
		at, what := w.queue.pop()
		w.now = w.begin.Add(at)
		if what.do != nil {
			what.do()
		} else {
			w.arrive(what.delivery)
		}
	}
}

// inOrder returns the transmission time on a link where TCP keeps its order. TCP retransmits
// each loss after 200 ms, and each further loss after twice as long.
func (w *world) inOrder(link [2]int, delay time.Duration) time.Duration {
	for timeout := 400 * time.Millisecond; delay >= timeout/2 && w.random.Float64() < w.loss; timeout *= 2 {
		delay += timeout
	}
	at := w.now.Add(delay)
	if at.Before(w.rough[link]) {
		at = w.rough[link]
	}
	w.rough[link] = at
	return at.Sub(w.now)
}

// delay returns the delay of a local network, with an occasional spike.
func (w *world) delay() time.Duration {
	d := 200*time.Microsecond + time.Duration(w.random.ExpFloat64()*float64(300*time.Microsecond))
	if w.random.IntN(100) == 0 {
		d += w.between(0, 50*time.Millisecond)
	}
	return d
}

func (w *world) cut(from, to int) bool { return len(w.cuts) > 0 && w.cuts[[2]int{from, to}] > 0 }

// start starts a process.
func (n *simNode) start() {
	n.world.disturb()
	n.process++
	n.hostUp = true
	n.held, n.pausedTo = nil, time.Time{}
	w := n.world
	set := Settings{
		Self:       Member{Name: fmt.Sprintf("n%d", n.index+1), Address: w.address(n.index), Incarnation: w.random.Uint64() | 1},
		MinMembers: 1,
		Detector:   LAN(),
		Downing:    downing.KeepMajority{},
		Leader:     Oldest(),
		Rejoin:     true,
	}
	for i := range w.nodes {
		set.Seeds = append(set.Seeds, w.address(i))
	}
	w.tune(&set)
	n.live(set)
	n.tick(n.process)
}

// live begins an incarnation.
func (n *simNode) live(set Settings) {
	for i := range set.Founding {
		set.Founding[i] = byte(n.world.random.Uint32())
	}
	n.machine = New(set)
	n.machine.onDecide = func(change table) { n.checkDecision(n.machine, change) }
	clear(n.statuses)
	n.world.note("n%d starts as %v", n.index+1, set.Self.ID())
	n.step(Started{})
}

func (n *simNode) tick(process int) {
	if n.process != process || n.machine == nil {
		return
	}
	if n.awake() {
		n.step(Ticked{})
	} else {
		n.occur(func() { n.step(Ticked{}) })
	}
	n.world.after(50*time.Millisecond, func() { n.tick(process) })
}

func (n *simNode) awake() bool { return n.machine != nil && !n.world.now.Before(n.pausedTo) }

// occur executes f in the process, when it is not paused.
func (n *simNode) occur(f func()) {
	switch {
	case n.machine == nil:
	case n.world.now.Before(n.pausedTo):
		if len(n.held) < 1000 {
			n.held = append(n.held, f)
		}
	default:
		f()
	}
}

func (n *simNode) pause(d time.Duration) {
	if n.machine == nil || n.world.now.Before(n.pausedTo) {
		return
	}
	n.world.disturb()
	n.world.note("n%d pauses for %v", n.index+1, d)
	n.pausedTo = n.world.now.Add(d)
	process := n.process
	n.world.after(d, func() {
		if n.process != process {
			return
		}
		n.world.disturb()
		held := n.held
		n.held = nil
		n.world.random.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
		for _, f := range held {
			n.occur(f)
		}
	})
}

// stop ends the process.
func (n *simNode) stop(hostUp bool) {
	if n.machine == nil {
		return
	}
	n.world.disturb()
	n.world.note("n%d ends, host up: %v", n.index+1, hostUp)
	n.machine, n.hostUp, n.held = nil, hostUp, nil
	n.process++
}

func (n *simNode) step(ev Input) {
	if n.machine == nil {
		return
	}
	m := n.machine
	for _, a := range m.Step(ev, n.world.now) {
		n.do(m, a)
	}
	n.checkStatuses(m)
}

func (n *simNode) do(m *Machine, a Action) {
	w, process := n.world, n.process
	switch a := a.(type) {
	case Send:
		w.carry(n, m.self, a.To, a.msg, false)
	case Beat:
		stream := a.msg
		stream.Stream = true
		var first, second message = a.msg, stream
		for _, address := range a.To {
			w.carry(n, m.self, ID{Address: address}, first, true)
			w.carry(n, m.self, ID{Address: address}, second, false)
		}
	case AcquireLease:
		w.lend(n, m, a)
	case Drain:
		w.note("n%d drains", n.index+1)
		d := w.between(0, 300*time.Millisecond)
		w.after(d, func() {
			n.occur(func() {
				if n.process == process && n.machine == m {
					n.step(Drained{})
				}
			})
		})
	case Stop:
		w.after(w.between(0, 300*time.Millisecond), func() {
			n.occur(func() {
				if n.process == process && n.machine == m {
					n.step(Stopped{})
				}
			})
		})
	case End:
		n.over(m, a)
	case Note:
		w.note("n%d: %s %s %s", n.index+1, a.Text, a.Address, a.Reason)
	case Publish:
		n.shown = a.View
	case Discover:
		n.discover(m)
	case Reply:
		a.To <- a.Err
	case Spread, Connect, Forget, Decided:
	}
}

// discover calls the world's discovery, which takes some time.
func (n *simNode) discover(m *Machine) {
	w := n.world
	addresses, failed := w.finds(n.index)
	w.after(w.between(0, 20*time.Millisecond), func() {
		n.occur(func() {
			if n.machine == m {
				n.step(Found{Addresses: addresses, Failed: failed})
			}
		})
	})
}

// over handles the end of an incarnation: the next one begins, or the process ends.
func (n *simNode) over(m *Machine, e End) {
	if e.Err != nil {
		n.world.note("n%d fails: %v", n.index+1, e.Err)
	}
	if !e.Rejoin {
		n.stop(true)
		return
	}
	set := m.set
	set.Earlier = append(slices.Clone(set.Earlier), set.Self.Incarnation)
	set.Self.Incarnation = n.world.random.Uint64() | 1
	set.Known, set.Version = e.Known, m.version
	n.live(set)
}

// carry brings a message to the node at an address. Over a cut link a datagram is lost; a
// message of a stream is lost or arrives once the cut has healed.
func (w *world) carry(from *simNode, sender, to ID, msg message, datagram bool) {
	w.carried++
	target := w.node(to.Address)
	if target == nil || datagram && (w.rough != nil || w.random.Float64() < w.loss) {
		return
	}
	if w.cut(from.index, target.index) {
		if _, beats := msg.(heartbeat); !datagram && !beats && w.random.IntN(2) == 0 {
			w.after(time.Second, func() { w.carry(from, sender, to, msg, datagram) })
		}
		return
	}
	delay := w.delay()
	if !datagram && w.random.Float64() < w.loss {
		delay += 200 * time.Millisecond
	}
	if w.rough != nil {
		delay = w.inOrder([2]int{from.index, target.index}, delay)
	}
	w.queue.push(w.now.Sub(w.begin)+delay, occurrence{delivery: delivery{from, target, sender, to, msg, datagram, delay}})
}

// arrive gives a message to its receiver. If its process has ended, the host refuses the connection
// if it can.
func (w *world) arrive(d delivery) {
	switch n := d.target; {
	case n.machine == nil:
		if n.hostUp && !d.datagram && !w.cut(n.index, d.from.index) {
			w.after(d.delay, func() { d.from.occur(func() { d.from.step(DialFailed{Address: d.to.Address, Refused: true}) }) })
		}
	case n.awake():
		n.receive(d.sender, d.to, d.msg)
	default:
		n.occur(func() { n.receive(d.sender, d.to, d.msg) })
	}
}

// receive hands a message to the machine, unless it is for another incarnation.
func (n *simNode) receive(sender, to ID, msg message) {
	if to.Incarnation == 0 || n.machine != nil && to.Incarnation == n.machine.self.Incarnation {
		n.step(Received{From: sender, msg: msg})
	}
}
