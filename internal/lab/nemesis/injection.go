//go:build linux

package main

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// inject injects a fault. alone says that it is the only fault between the last settled state and
// its repair.
func (h *harness) inject(f Fault, alone bool) error {
	if err := h.alive(); err != nil {
		return err
	}
	host := -1
	if f.Host || alone {
		host = h.host()
	}
	f = f.on(host)
	s := injection{fault: f}
	if alone && slices.Contains(f.Targets, host) {
		s.replaces = h.rec.newest()
	}
	h.endInjection()
	now := clock()
	s.at = now
	h.injections = append(h.injections, s)
	h.show.at(now, "%s", f.describe(func(n int) string {
		if n == host {
			return nodeName(n) + "(host)"
		}
		return nodeName(n)
	}))
	h.stable = false
	if !f.affectsNetwork() {
		return h.faultProcesses(f)
	}
	if !f.splits() || !alone {
		h.disruptions = append(h.disruptions, Disruption{From: now})
	}
	return h.faultNetwork(f)
}

// endInjection notes the end of the last injection.
func (h *harness) endInjection() {
	if n := len(h.injections); n > 0 {
		h.injections[n-1].until = clock()
	}
}

// faultNetwork injects a fault into the network.
func (h *harness) faultNetwork(f Fault) error {
	var errs []error
	switch f.Kind {
	case Partition:
		others := append(h.others(f.Targets), h.leases.place) // the store is on the other side
		h.net.board.cut(f.Targets, others)
		h.net.board.cut(others, f.Targets)
	case Mute:
		h.net.board.cut(f.Targets, h.others(f.Targets))
	case Lose:
		h.net.board.lose(f.Targets, f.Percent)
	case NoTCP:
		h.net.board.drop(f.Targets, "tcp")
	case NoUDP:
		h.net.board.drop(f.Targets, "udp")
	case Unplug:
		for _, n := range f.Targets {
			errs = append(errs, h.net.unplug(n))
		}
	case Slow:
		for _, n := range f.Targets {
			errs = append(errs, h.net.slow(n))
		}
	case Pause, Kill, Leave, KillAll, NoStore, Steal:
	}
	return errors.Join(append(errs, h.net.apply())...)
}

// faultProcesses injects a fault into processes.
func (h *harness) faultProcesses(f Fault) error {
	var errs []error
	if f.Kind == NoStore {
		errs = append(errs, h.net.unplug(h.leases.place))
	}
	if f.Kind == Steal {
		h.leases.Usurp(leasedName, "thief", time.Hour)
	}
	for _, n := range f.Targets {
		p := h.running[n]
		switch f.Kind {
		case Pause:
			h.disruptions = append(h.disruptions, Disruption{Node: p.name, From: clock()})
			h.pauses = append(h.pauses, startPause(p))
		case Kill, KillAll:
			errs = append(errs, p.strike())
			h.change(f, n)
		case Leave:
			if _, err := ask(h.dir, nodeName(n), Request{Leave: true}); err != nil {
				h.show.at(clock(), "%s is not a member yet, and stays", nodeName(n))
				continue
			}
			p.expected.Store(true)
			h.change(f, n)
		case Partition, Unplug, Mute, Slow, Lose, NoTCP, NoUDP, NoStore, Steal:
		}
	}
	return errors.Join(errs...)
}

// repair ends all faults: it repairs the network, continues stopped processes, and starts ended
// nodes again.
func (h *harness) repair() error {
	if err := h.net.repair(); err != nil {
		return err
	}
	h.wake()
	if h.leases.Inspect(leasedName).Holder == "thief" {
		h.leases.Delete(leasedName)
	}
	for n, p := range h.running {
		if p.expected.Load() {
			if err := h.restart(n, p); err != nil {
				return err
			}
		}
	}
	for i := range h.disruptions {
		if h.disruptions[i].To == 0 {
			h.disruptions[i].To = clock()
		}
	}
	h.show.at(clock(), "everything is repaired")
	return nil
}

// wake continues the stopped processes.
func (h *harness) wake() {
	for _, p := range h.pauses {
		h.woken += p.end()
		h.show.at(clock(), "%s goes on", p.process.name)
	}
	h.pauses = nil
}

// restart starts a node again once its process has ended. It gives a leaving node the time to
// leave.
func (h *harness) restart(n int, p *nodeRun) error {
	if err := p.await(leaveLimit); err != nil {
		return err
	}
	if killed := p.killed(); !killed && p.Wait() != nil {
		return fmt.Errorf("%s was to leave: %w", p.name, p.Wait())
	}
	return h.start(n)
}

// change makes the next process of a node one of the other version, if the fault says so.
func (h *harness) change(f Fault, n int) {
	switch {
	case !f.Change:
	case h.programs[n] == "":
		h.programs[n] = h.other
	default:
		h.programs[n] = ""
	}
}
