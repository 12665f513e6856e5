package failover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/process"
)

// A director starts the nodes, injects faults, and records the reports of the nodes.
type director struct {
	settings
	dir       string            // of the files that are removed in the end
	kept      bool              // the journal belongs to the user, and is kept
	addresses map[string]string // of the nodes
	running   map[string]*nodeRun
	all       []*nodeRun // every process there ever was
	reports   chan reported
	log       *os.File // what the nodes print on standard error
	show      *timeline
	books     *books
}

// reported is a report and the process it came from.
type reported struct {
	from *nodeRun
	report
}

func newDirector(out io.Writer, s settings) (*director, error) {
	dir, err := os.MkdirTemp("", "failover")
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "nodes.log"))
	if err != nil {
		return nil, err
	}
	free, err := process.FreeAddresses(3)
	if err != nil {
		return nil, err
	}
	addresses := map[string]string{"n1": free[0], "n2": free[1], "n3": free[2]}
	kept := s.journal != ""
	if !kept {
		s.journal = filepath.Join(dir, "journal.db")
	}
	return &director{
		settings: s, dir: dir, kept: kept, addresses: addresses, running: make(map[string]*nodeRun), reports: make(chan reported, 1024),
		log: log, show: newTimeline(out), books: newBooks(),
	}, nil
}

func (d *director) allAddresses() string {
	var seeds []string
	for _, node := range slices.Sorted(maps.Keys(d.addresses)) {
		seeds = append(seeds, d.addresses[node])
	}
	return strings.Join(seeds, ",")
}

// start starts a process for node.
func (d *director) start(node string) error {
	p, err := startProcess(node, d.addresses[node], d.allAddresses(), d.journal, d.id, d.log)
	if err != nil {
		return err
	}
	d.running[node] = p
	d.all = append(d.all, p)
	go func() {
		for r := range p.reports {
			d.reports <- reported{p, r}
		}
		d.reports <- reported{from: p}
	}()
	return nil
}

// close kills every process, waits for their end, and removes the files that they have written. It
// keeps a journal that the user has named.
func (d *director) close() {
	for _, p := range d.all {
		_ = p.Signal(os.Kill) // it may have ended
	}
	for _, p := range d.all {
		for ended := false; !ended; {
			select {
			case <-p.Done():
				ended = true
			case <-d.reports:
			}
		}
	}
	_ = d.log.Close() // it has been written
	if err := os.RemoveAll(d.dir); err != nil {
		d.show.text("left behind: %v", err)
	}
}

// until reads reports until done returns true. It fails after limit with an error that names what.
func (d *director) until(ctx context.Context, what string, limit time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("waited %v in vain for %s", limit, what))
	defer cancel()
	for !done() {
		select {
		case r := <-d.reports:
			if err := d.note(r); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// watch reads reports for a while.
func (d *director) watch(ctx context.Context, span time.Duration) error {
	end := time.Now().Add(span)
	err := d.until(ctx, "the time to pass", span, func() bool { return !time.Now().Before(end) })
	if ctx.Err() == nil && !time.Now().Before(end) {
		return nil
	}
	return err
}

// note records a report, and prints the changes.
func (d *director) note(r reported) error {
	if r.Stats != nil && r.Stats.Here {
		d.hosts(r.from, r.Stats.Generation)
	}
	switch {
	case r.Failed != "":
		return errors.New(r.from.node + ": " + r.Failed)
	case r.Ack != nil:
		d.books.acknowledged(*r.Ack)
		d.show.acknowledged()
	case r.Fenced != "":
		d.books.fenced++
		if d.books.fenced == 1 {
			d.show.say(r.from.node, "its write is refused: %s", r.Fenced)
		}
	case r.Final != nil:
		d.books.final = r.Final
	case r.Stopped:
		d.books.stopped[r.from] = true
	}
	return nil
}

// hosts shows a new host.
func (d *director) hosts(p *nodeRun, generation string) {
	if d.books.generation != "" && !newer(generation, d.books.generation) {
		return
	}
	d.books.host, d.books.generation = p.node, generation
	if d.books.final == nil { // else all leave, and one may host in between
		d.show.hosting(p.node, generation)
	}
}

// host returns the node whose process runs the instance. If two processes claim that, because one
// has not noticed yet that it was replaced, host returns the node of the newer generation.
func (d *director) host() (node string, ok bool) {
	var generation string
	for name, p := range d.running {
		if s := p.figures(); s.Here && (!ok || newer(s.Generation, generation)) {
			node, generation, ok = name, s.Generation, true
		}
	}
	return node, ok
}

// together reports that all running nodes see n members that are up, and one hosts.
func (d *director) together(n int) bool {
	for _, p := range d.running {
		if p.figures().Members != n {
			return false
		}
	}
	_, ok := d.host()
	return ok
}
