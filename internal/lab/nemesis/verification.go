//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/singleton"
)

// verify lets all nodes leave, and checks their logs, reports and journals.
func (h *harness) verify(ctx context.Context) error {
	sum, err := h.finalSum()
	if err != nil {
		return err
	}
	h.readLists()
	h.endTrips()
	if err := h.leaveAll(); err != nil {
		return err
	}
	journal, err := readJournal(ctx, h.database())
	if err != nil {
		return err
	}
	if err := h.checkOperations(ctx); err != nil {
		return err
	}
	if err := h.checkLists(ctx); err != nil {
		return err
	}
	if err := h.checkTrips(ctx); err != nil {
		return err
	}
	history := h.rec.history
	if whole := sumOf(journal); sum != whole {
		h.violate("the ledger ends with %+v, the journal with %+v", sum, whole)
	}
	h.violations = append(h.violations, check(history, journal)...)
	runs, err := h.readRuns(".ticks")
	if err != nil {
		return err
	}
	leased, err := h.readRuns(".leased")
	if err != nil {
		return err
	}
	found, midst := checkLeased(leased)
	h.violations = append(h.violations, found...)
	lives, err := livesOf(h.dir, h.processes)
	if err != nil {
		return err
	}
	stops := fullStops(lives)
	h.violations = append(h.violations, checkGenerations(runs, stops)...)
	both := overlaps(runs, h.disruptions)
	for _, o := range both {
		if o.Excuse == "" {
			h.violate("%v", o)
		}
	}
	h.readLogs()
	h.report(history, journal, runs, both)
	h.show.text("%d times the whole cluster was stopped, and a new one was formed", len(stops))
	h.reportLeased(leased, midst)
	return nil
}

// violate notes a violation.
func (h *harness) violate(format string, what ...any) {
	h.violations = append(h.violations, fmt.Sprintf(format, what...))
}

// finalSum asks the ledger for its sum after the clients have ended.
func (h *harness) finalSum() (Sum, error) {
	var why error
	for range 10 {
		reply, err := ask(h.dir, nodeName(0), Request{Look: true})
		if err == nil && reply.Error == "" && reply.Sum != nil {
			return *reply.Sum, nil
		}
		why = errors.Join(err, errors.New(reply.Error))
	}
	return Sum{}, fmt.Errorf("the ledger does not answer in the end: %w", why)
}

// leaveAll lets one node after the other leave gracefully.
func (h *harness) leaveAll() error {
	for n, p := range h.running {
		p.expected.Store(true)
		if _, err := ask(h.dir, nodeName(n), Request{Leave: true}); err != nil {
			return fmt.Errorf("%s was to leave: %w", p.name, err)
		}
		if err := p.await(leaveLimit); err != nil {
			return err
		}
		if p.Wait() != nil {
			return fmt.Errorf("%s was to leave: %w", p.name, p.Wait())
		}
	}
	return nil
}

// readJournal returns the entries that are in the journal.
func readJournal(ctx context.Context, database string) (stored []Stored, err error) {
	records, err := recordsOf[Written](ctx, database, ledgerID)
	for _, r := range records {
		stored = append(stored, Stored{Entry: r.event.Entry, Seq: r.Seq, Epoch: r.Epoch})
	}
	return stored, err
}

// checkOperations finds answers of registers that are not linearizable.
func (h *harness) checkOperations(ctx context.Context) error {
	records, err := recordsOf[Operated](ctx, h.database(), registerID)
	if err != nil {
		return err
	}
	var numbers []Stored
	written := make(map[uint64]int)
	for _, r := range records {
		numbers = append(numbers, Stored{Seq: r.Seq, Epoch: r.Epoch})
		if r.event.Value != 0 {
			written[r.event.Value]++
		}
	}
	h.violations = append(h.violations, checkJournal(numbers)...)
	began := clock()
	h.violations = append(h.violations, checkRegisters(h.rec.operations, written, h.dir)...)
	var answered int
	for _, o := range h.rec.operations {
		if o.answered() {
			answered++
		}
	}
	h.show.text("\n%d operations on %d registers: %d answered, %d unknown; checked for linearizability in %.1fs",
		len(h.rec.operations), len(historiesOf(h.rec.operations, written)), answered, len(h.rec.operations)-answered, (clock() - began).Seconds())
	return nil
}

// A record is one of the journal with its event.
type record[E any] struct {
	journal.Record
	event E
}

// recordsOf returns the records of a persistence id, in order.
func recordsOf[E any](ctx context.Context, database, id string) (all []record[E], err error) {
	j, err := sqlite.Open(database) //nolint:contextcheck // opening takes no context
	if err != nil {
		return nil, err
	}
	defer j.Close()
	claim, err := j.Claim(ctx, id, journal.WriterID{}, journal.Bounds{})
	if err != nil {
		return nil, err
	}
	for r, err := range j.Read(ctx, id, 1, claim.LastSeq) {
		if err != nil {
			return nil, err
		}
		unpacked, err := extension.Unpack(nil, extension.Payload{Type: r.Type, Data: r.Payload})
		if err != nil {
			return nil, err
		}
		event, ok := unpacked.(E)
		if !ok {
			return nil, fmt.Errorf("record %d of %s is a %T", r.Seq, id, unpacked)
		}
		all = append(all, record[E]{r, event})
	}
	return all, nil
}

// readRuns reads the reports of all tickers, from the files of a kind.
func (h *harness) readRuns(kind string) (runs []Run, err error) {
	files, err := filepath.Glob(filepath.Join(h.dir, "*"+kind))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		process := strings.TrimSuffix(filepath.Base(name), kind)
		runs = append(runs, readRuns(process, bytes.NewReader(text))...)
	}
	return runs, nil
}

// livesOf returns what is known of processes.
func livesOf(dir string, processes []*nodeRun) (all []Life, err error) {
	for _, p := range processes {
		text, err := os.ReadFile(eventsFile(dir, p.name))
		if err != nil && !errors.Is(err, os.ErrNotExist) { // it was killed before it had begun
			return nil, err
		}
		all = append(all, Life{Node: p.node, Seen: readEvents(bytes.NewReader(text)), Ended: time.Duration(p.ended.Load())})
	}
	return all, nil
}

// unstableReason is in the log of a node whose side downs itself because reachability kept
// changing.
const unstableReason = "reachability has kept changing for too long"

// readLogs finds forbidden lines in the logs of nodes, and sides that downed themselves.
func (h *harness) readLogs() {
	for _, log := range h.logs {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			h.violate("%v", err)
		}
		for _, never := range []string{"WARNING: DATA RACE", "panic:", "fatal error:", "DPANIC"} {
			if i := bytes.Index(text, []byte(never)); i >= 0 {
				line, _, _ := bytes.Cut(text[i:], []byte("\n"))
				h.violate("%s says: %s", filepath.Base(log.Name()), line)
			}
		}
		h.givenUp = append(h.givenUp, momentsOf(text, unstableReason)...)
	}
	slices.Sort(h.givenUp)
}

// momentsOf returns the times of the lines that contain what. A line begins with the time in
// seconds.
func momentsOf(log []byte, what string) (moments []time.Duration) {
	for line := range bytes.Lines(log) {
		var seconds float64
		if !bytes.Contains(line, []byte(what)) {
			continue
		}
		if _, err := fmt.Sscan(string(line), &seconds); err == nil {
			moments = append(moments, time.Duration(seconds*float64(time.Second)))
		}
	}
	return moments
}

// report prints the figures.
func (h *harness) report(history History, journal []Stored, runs []Run, both []Overlap) {
	var acked int
	for _, w := range history.Writes {
		if w.acked() {
			acked++
		}
	}
	stale, worst := staleReads(history, journal)
	h.show.text("\n%d entries sent in %d attempts: %d acknowledged, %d unknown; %d in the journal",
		len(history.Writes), h.rec.attempts, acked, len(history.Writes)-acked, len(journal))
	h.show.text("%d reads, %d of them stale, by %.2fs at most", len(history.Reads), stale, worst.Seconds())
	h.show.text("%d instances of the ticker; stopped processes were continued by the journal %d times, and stopped again", len(runs), h.woken)
	for _, o := range both {
		h.show.text("two of them %v: %s", o, o.Excuse)
	}
	h.show.text("%d times settled, in %.2fs median, %.2fs at most", len(h.settled), median(h.settled).Seconds(), longest(h.settled).Seconds())
	acks := h.rec.acked()
	h.reportGivenUp(acks)
	h.reportMoves()
	h.show.text("\nlongest time without an acknowledgement after a fault\n  %-10s %5s %8s %8s", "fault", "times", "median", "most")
	for _, w := range weights {
		var silences []time.Duration
		for _, s := range h.injections {
			if s.fault.Kind == w.kind {
				silences = append(silences, silence(acks, s.at, s.until))
			}
		}
		if len(silences) > 0 {
			h.show.text("  %-10s %5d %7.2fs %7.2fs", w.kind, len(silences), median(silences).Seconds(), longest(silences).Seconds())
		}
	}
}

// reportGivenUp prints the consequences of sides that downed themselves because reachability kept
// changing.
func (h *harness) reportGivenUp(acks []time.Duration) {
	const outage = 20 * time.Second
	var times int
	var silences []time.Duration
	for i, at := range h.givenUp {
		if i > 0 && at < h.givenUp[i-1]+outage {
			continue // it belongs to the same
		}
		times++
		silences = append(silences, silence(acks, at, at+outage))
	}
	h.show.text("%d times some node took its side down as reachability kept changing; then nothing was acknowledged for %.2fs median, %.2fs at most",
		times, median(silences).Seconds(), longest(silences).Seconds())
}

// reportMoves prints how long it took until another instance answered.
func (h *harness) reportMoves() {
	h.show.text("\nfrom a fault that hits the host, and nothing else, to the first answer of another instance\n  %-10s %5s %8s %8s %8s %8s   %s",
		"fault", "times", "p50", "p90", "p99", "most", "expected at most")
	for _, w := range weights {
		var took []time.Duration
		for _, s := range h.injections {
			if after, ok := replaced(s, h.rec.operations); ok && s.fault.Kind == w.kind {
				took = append(took, after)
			}
		}
		if len(took) == 0 {
			continue
		}
		h.show.text("  %-10s %5d %7.2fs %7.2fs %7.2fs %7.2fs   %s", w.kind, len(took), percentile(took, 50).Seconds(),
			percentile(took, 90).Seconds(), percentile(took, 99).Seconds(), longest(took).Seconds(), expected(w.kind))
	}
}

// reportLeased prints what the singleton with a lease has done.
func (h *harness) reportLeased(runs []Run, midst int) {
	h.show.text("\n%d instances of the singleton with a lease of %v, no two at once; %d times one was in the midst of a message when its process was stopped, and ended it later",
		len(runs), leaseTTL, midst)
	h.show.text("from a fault that hits the host, and nothing else, to the start of another of them\n  %-10s %5s %8s %8s %8s %8s   %s",
		"fault", "times", "p50", "p90", "p99", "most", "expected at most")
	for _, k := range measured {
		var took []time.Duration
		for _, s := range h.injections {
			if s.fault.Kind != k || s.replaces == (singleton.Generation{}) {
				continue
			}
			if after, ok := followed(s, runs); ok {
				took = append(took, after)
			}
		}
		if len(took) > 0 {
			h.show.text("  %-10s %5d %7.2fs %7.2fs %7.2fs %7.2fs   %s", k, len(took), percentile(took, 50).Seconds(),
				percentile(took, 90).Seconds(), percentile(took, 99).Seconds(), longest(took).Seconds(), expectedLeased(k))
		}
	}
}

func longest(d []time.Duration) (most time.Duration) {
	for _, x := range d {
		most = max(most, x)
	}
	return most
}
