package membership

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A schedule lists the faults of one history. It is drawn before the history begins, so that
// parts of it can be left out.
type schedule struct {
	seed   uint64
	size   int
	loss   float64 // of datagrams, until all faults have healed
	starts []time.Duration
	faults []fault
	mayEnd bool // no majority is promised to continue
	apart  bool // two sides never continue, not even for a moment
}

// A fault is one failure.
type fault struct {
	kind  faultKind
	node  int
	side  []bool        // of a split: the side of each node
	lasts time.Duration // how long it lasts, or until the process is started again
	then  time.Duration // how long until the next fault
}

type faultKind string

const (
	splitInTwo faultKind = "split"
	cutOff     faultKind = "cut off"
	muted      faultKind = "cut off, but hears"
	crashed    faultKind = "crash"
	lostHost   faultKind = "crash with its host"
	paused     faultKind = "pause"
	left       faultKind = "leave"
	leftAtOnce faultKind = "leave at once" // not drawn
)

var faultKinds = []faultKind{splitInTwo, splitInTwo, cutOff, muted, crashed, crashed, lostHost, paused, paused, left}

// draw draws the schedule of a seed.
func draw(seed uint64, size, faults int) schedule {
	random := rand.New(rand.NewPCG(seed, 2))
	between := func(low, high time.Duration) time.Duration {
		return low + time.Duration(random.Int64N(int64(high-low)))
	}
	s := schedule{seed: seed, size: size}
	if random.IntN(2) == 0 {
		s.loss = random.Float64() * 0.2
	}
	for range size {
		s.starts = append(s.starts, between(0, 5*time.Second))
	}
	for range faults {
		f := fault{
			kind:  faultKinds[random.IntN(len(faultKinds))],
			node:  random.IntN(size),
			lasts: between(time.Second/10, 40*time.Second),
			then:  between(0, 15*time.Second),
		}
		for range size {
			f.side = append(f.side, random.IntN(2) == 0)
		}
		if random.IntN(3) == 0 {
			f.then = between(40*time.Second, 60*time.Second) // all settles
		}
		s.faults = append(s.faults, f)
	}
	return s
}

func (s schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d nodes, loss %.3f, starts %v", s.seed, s.size, s.loss, s.starts)
	for _, f := range s.faults {
		fmt.Fprintf(&b, "\n  %v", f)
	}
	return b.String()
}

func (f fault) String() string {
	who := fmt.Sprintf("n%d", f.node+1)
	if f.kind == splitInTwo || f.kind == leftAtOnce {
		who = ""
		for i, side := range f.side {
			if side {
				who += fmt.Sprintf("n%d ", i+1)
			}
		}
	}
	return fmt.Sprintf("%s %s for %v, then wait %v", f.kind, who, f.lasts, f.then)
}

func (w *world) apply(f fault) {
	n := w.nodes[f.node]
	switch f.kind {
	case splitInTwo:
		w.split(func(from, to int) bool { return f.side[from] != f.side[to] }, f.lasts, fmt.Sprint("split ", f.side))
	case cutOff:
		w.split(func(from, to int) bool { return from == f.node || to == f.node }, f.lasts, fmt.Sprintf("n%d is cut off", f.node+1))
	case muted:
		w.split(func(from, _ int) bool { return from == f.node }, f.lasts, fmt.Sprintf("nobody hears n%d", f.node+1))
	case crashed, lostHost:
		n.stop(f.kind == crashed)
		w.after(f.lasts, n.startAgain)
	case paused:
		n.pause(f.lasts)
	case left:
		n.leave(f.lasts)
	case leftAtOnce:
		for i, leaves := range f.side {
			if leaves {
				w.nodes[i].leave(f.lasts)
			}
		}
	}
}

// leave ends the process in an orderly way, and starts another one after a while.
func (n *simNode) leave(back time.Duration) {
	if n.machine == nil {
		return
	}
	n.world.disturb()
	n.world.note("n%d leaves", n.index+1)
	n.occur(func() { n.step(LeaveAsked{}) })
	n.world.after(max(back, 3*time.Second), n.startAgain)
}

func (n *simNode) startAgain() {
	if n.machine == nil {
		n.start()
	}
}

// split cuts links for a while.
func (w *world) split(cut func(from, to int) bool, d time.Duration, what string) {
	w.disturb()
	w.note("%s for %v", what, d)
	var links [][2]int
	for i := range w.nodes {
		for j := range w.nodes {
			if i != j && cut(i, j) {
				links = append(links, [2]int{i, j})
				w.cuts[[2]int{i, j}]++
			}
		}
	}
	w.after(d, func() {
		if w.healed {
			return
		}
		w.disturb()
		w.note("healed: %s", what)
		for _, l := range links {
			if w.cuts[l]--; w.cuts[l] == 0 {
				delete(w.cuts, l)
			}
		}
	})
}

// heal ends all faults, and starts the processes that do not run.
func (w *world) heal() {
	w.note("all is well from now on")
	w.healed = true
	clear(w.cuts)
	w.loss = 0
	for _, n := range w.nodes {
		n.startAgain()
	}
}
