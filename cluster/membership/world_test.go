package membership

import (
	"container/heap"
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
	cuts    map[[2]int]int // by from and to: how many faults cut the link
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

type occurrence struct {
	at    time.Time
	order int
	do    func()
}

type occurrences struct {
	all   []occurrence
	count int
}

func (o *occurrences) Len() int { return len(o.all) }
func (o *occurrences) Less(i, j int) bool {
	if !o.all[i].at.Equal(o.all[j].at) {
		return o.all[i].at.Before(o.all[j].at)
	}
	return o.all[i].order < o.all[j].order
}
func (o *occurrences) Swap(i, j int) { o.all[i], o.all[j] = o.all[j], o.all[i] }
func (o *occurrences) Push(x any)    { o.all = append(o.all, x.(occurrence)) }
func (o *occurrences) Pop() any {
	last := o.all[len(o.all)-1]
	o.all = o.all[:len(o.all)-1]
	return last
}

func newWorld(t tester, seed uint64, size int) *world {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	w := &world{
		t:      t,
		random: rand.New(rand.NewPCG(seed, 1)),
		now:    begin,
		begin:  begin,
		cuts:   map[[2]int]int{},
		tune:   func(*Settings) {},
		moved:  map[transition]int{},
	}
	for i := range size {
		w.nodes = append(w.nodes, &simNode{world: w, index: i, address: fmt.Sprintf("n%d:1", i+1), hostUp: true, statuses: map[ID]Status{}})
	}
	return w
}

func (w *world) address(i int) string { return w.nodes[i].address }

func (w *world) node(address string) *simNode {
	for _, n := range w.nodes {
		if n.address == address {
			return n
		}
	}
	return nil
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%9.3f ", w.now.Sub(w.begin).Seconds())+fmt.Sprintf(format, args...))
}

func (w *world) after(d time.Duration, do func()) {
	w.queue.count++
	heap.Push(&w.queue, occurrence{at: w.now.Add(d), order: w.queue.count, do: do})
}

// run lets time pass, and checks the invariants ten times a second.
func (w *world) run(d time.Duration) {
	end := w.now.Add(d)
	for next := w.now; w.now.Before(end); next = next.Add(100 * time.Millisecond) {
		for len(w.queue.all) > 0 && !w.queue.all[0].at.After(next) {
			w.occurNext()
		}
		w.now = next
		w.checkLeaders()
		w.checkPromise()
		w.checkApart()
	}
}

// occurNext executes the next event.
func (w *world) occurNext() {
	o := heap.Pop(&w.queue).(occurrence)
	w.now = o.at
	o.do()
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

func (w *world) cut(from, to int) bool { return w.cuts[[2]int{from, to}] > 0 }

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
	n.occur(func() { n.step(Ticked{}) })
	n.world.after(50*time.Millisecond, func() { n.tick(process) })
}

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
		for _, address := range a.To {
			h := a.msg
			w.carry(n, m.self, ID{Address: address}, h, true)
			h.Stream = true
			w.carry(n, m.self, ID{Address: address}, h, false)
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
	case Spread, Connect, Forget:
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
	w.after(delay, func() {
		if target.machine == nil {
			if target.hostUp && !datagram && !w.cut(target.index, from.index) {
				w.after(delay, func() { from.occur(func() { from.step(DialFailed{Address: to.Address, Refused: true}) }) })
			}
			return
		}
		target.occur(func() {
			if to.Incarnation == 0 || target.machine != nil && to.Incarnation == target.machine.self.Incarnation {
				target.step(Received{From: sender, msg: msg})
			}
		})
	})
}
