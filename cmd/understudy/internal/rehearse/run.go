package rehearse

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/roll"
)

// A Config says what is tried.
type Config struct {
	Old, New string   // files of the builds
	Journal  string   // a file, a directory or a URL; files are copied
	Sample   int      // how many ids; 0 for all
	IDs      []string // only these; nil for all
	Accept   []string // keys of findings that are no problems
	Progress func(text string)

	Roll *roll.Config // how a cluster is updated and rolled back; nil for not at all
}

// A Result is what a rehearsal has found. The JSON names are a stable interface; docs/cli.md
// describes them.
type Result struct {
	OK        bool      `json:"ok"`
	Old       string    `json:"old"`
	New       string    `json:"new"`
	Journal   string    `json:"journal"`
	IDs       int       `json:"ids"`
	Untried   int       `json:"untried"` // ids of no part: their events were only decoded
	Events    uint64    `json:"events"`
	Snapshots uint64    `json:"snapshots"`
	Seconds   float64   `json:"seconds"`
	Problems  []Finding `json:"problems"`
	Notes     []Finding `json:"notes"`
	Accepted  []Finding `json:"accepted"`

	Steps    []roll.Step `json:"steps"`    // of a roll
	Requests int         `json:"requests"` // that the load of a roll has made
}

// Run tries two builds.
func Run(ctx context.Context, cfg Config) (res Result, err error) {
	begun := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dir, err := os.MkdirTemp("", "understudy-rehearsal-")
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := &rehearsal{Config: cfg, dir: dir, key: key()}
	defer r.end()
	if err := r.start(ctx); err != nil {
		return res, err
	}
	f := newFindings()
	compareForms(f, r.oldHello, r.newHello)
	compareErrors(f, r.oldHello, r.newHello)
	compareSettings(f, r.oldHello, r.newHello)
	if err := r.all(ctx, f); err != nil {
		return res, err
	}
	rolled, err := r.roll(ctx, f)
	if err != nil {
		return res, err
	}
	f.merge()
	res = Result{
		Old: cfg.Old, New: cfg.New, Journal: cfg.Journal, IDs: r.ids, Untried: r.untried, Events: r.events, Snapshots: r.snapshots,
		Seconds: time.Since(begun).Seconds(), Problems: []Finding{}, Notes: sorted(f.notes), Accepted: []Finding{},
		Steps: append([]roll.Step{}, rolled.Steps...), Requests: rolled.Requests,
	}
	for _, p := range sorted(f.problems) {
		if slices.Contains(cfg.Accept, p.Key) {
			res.Accepted = append(res.Accepted, p)
		} else {
			res.Problems = append(res.Problems, p)
		}
	}
	res.OK = len(res.Problems) == 0
	return res, nil
}

func key() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

type rehearsal struct {
	Config
	dir, key           string
	old, new           *program
	oldHello, newHello *hello
	twin               *program // another run of the old build; nil before it is needed

	ids, untried      int
	events, snapshots uint64
}

func (r *rehearsal) say(text string) {
	if r.Progress != nil {
		r.Progress(text)
	}
}

func (r *rehearsal) end() {
	for _, p := range []*program{r.old, r.new, r.twin} {
		if p != nil {
			p.end()
		}
	}
}

// start starts both builds, each on a copy of its own.
func (r *rehearsal) start(ctx context.Context) error {
	for _, path := range []string{r.Old, r.New} {
		if err := check(path); err != nil {
			return err
		}
	}
	r.say("copying the journal")
	return both(
		func() (err error) { r.old, r.oldHello, err = r.open(ctx, r.Old, "old"); return err },
		func() (err error) { r.new, r.newHello, err = r.open(ctx, r.New, "new"); return err },
	)
}

func both(f, g func() error) error {
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() { failed = g() })
	err := f()
	wg.Wait()
	return errors.Join(err, failed)
}

func (r *rehearsal) open(ctx context.Context, path, name string) (*program, *hello, error) {
	dir := filepath.Join(r.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, nil, err
	}
	location, err := copyTo(ctx, r.Journal, dir)
	if err != nil {
		return nil, nil, err
	}
	p, err := start(ctx, path, r.key)
	if err != nil {
		return nil, nil, err
	}
	h := new(hello)
	err = p.ask(request{Do: "hello", Journal: location}, func(a *answer) error {
		h = a.Hello
		return nil
	})
	return p, h, err
}

// Batches are so small that their values fit into memory.
const (
	batchIDs    = 500
	batchEvents = 20_000
)

// batches returns the ids that are tried.
func (r *rehearsal) batches() ([][]string, error) {
	r.say("looking for ids")
	var all []stored
	err := r.old.ask(request{Do: "ids"}, func(a *answer) error {
		if len(r.IDs) == 0 {
			all = append(all, *a.ID)
		} else if slices.Contains(r.IDs, a.ID.ID) {
			all = append(all, *a.ID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, id := range r.IDs { // all events of one may be deleted
		if !slices.ContainsFunc(all, func(s stored) bool { return s.ID == id }) {
			all = append(all, stored{ID: id})
		}
	}
	slices.SortFunc(all, func(a, b stored) int { return cmp.Or(cmp.Compare(hash(a.ID), hash(b.ID)), cmp.Compare(a.ID, b.ID)) })
	if r.Sample > 0 && len(all) > r.Sample {
		all = all[:r.Sample]
	}
	slices.SortFunc(all, func(a, b stored) int { return cmp.Compare(a.ID, b.ID) })
	r.ids = len(all)
	return divided(all), nil
}

func hash(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return h.Sum64()
}

func divided(all []stored) (batches [][]string) {
	var batch []string
	var events uint64
	for _, s := range all {
		if len(batch) == batchIDs || len(batch) > 0 && events+s.Events > batchEvents {
			batches, batch, events = append(batches, batch), nil, 0
		}
		batch, events = append(batch, s.ID), events+s.Events
	}
	if len(batch) > 0 {
		batches = append(batches, batch)
	}
	return batches
}

// all lets the builds read all ids, each at its pace, and compares.
func (r *rehearsal) all(ctx context.Context, f *findings) error {
	batches, err := r.batches()
	if err != nil {
		return err
	}
	c := &comparison{findings: f, now: r.newHello, random: map[string]bool{}, runs: map[string]int{}, again: func(id string) (*report, error) { return r.again(ctx, id) }}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	olds, news := reading(ctx, r.old, batches, ""), reading(ctx, r.new, batches, filepath.Join(r.dir, "spool-"))
	defer func() { // the readers have ended before the programs do
		cancel()
		for range olds {
		}
		for range news {
		}
	}()
	done, told := 0, time.Now()
	for range batches {
		o, n := <-olds, <-news
		if err := errors.Join(o.err, n.err); err != nil {
			return err
		}
		if err := r.compare(c, o, n); err != nil {
			return err
		}
		if done += len(o.reports); time.Since(told) > 5*time.Second {
			told = time.Now()
			r.say(progressText(done, r.ids, r.events))
		}
	}
	return nil
}

// A batch is what a build has made of some ids.
type batch struct {
	reports []*report
	spool   string // what it would write; "" for nothing
	err     error
}

// reading lets p read one batch after the other, and closes the channel after the last one. It
// stops after an error, and when ctx ends.
func reading(ctx context.Context, p *program, batches [][]string, spools string) <-chan batch {
	to := make(chan batch, 2)
	go func() {
		defer close(to)
		for i, ids := range batches {
			var b batch
			if spools != "" {
				b.spool = spools + strconv.Itoa(i)
			}
			b.err = p.ask(request{Do: "read", IDs: ids, Spool: b.spool}, func(a *answer) error {
				b.reports = append(b.reports, a.Report)
				return nil
			})
			if b.err == nil && len(b.reports) != len(ids) {
				b.err = fmt.Errorf("%s has answered %d of %d ids", p.name, len(b.reports), len(ids))
			}
			select {
			case to <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil {
				return
			}
		}
	}()
	return to
}

func (r *rehearsal) compare(c *comparison, o, n batch) error {
	var back []string
	olds, news := map[string]*report{}, map[string]*report{}
	for i, old := range o.reports {
		now := n.reports[i]
		r.events += max(old.Events, now.Events)
		r.snapshots += max(old.Snapshots, now.Snapshots)
		if old.nothing() && now.nothing() && slices.Contains(r.IDs, old.ID) {
			return fmt.Errorf("-id: nothing is stored under %q; say an id as the journal has it, such as cart|1", old.ID)
		}
		if old.Part == "" && now.Part == "" {
			r.untried++
		}
		writes, err := c.read(old, now)
		if err != nil {
			return err
		}
		if writes {
			back = append(back, old.ID)
			olds[old.ID], news[old.ID] = old, now
		}
	}
	if len(back) > 0 {
		err := r.old.ask(request{Do: "reread", IDs: back, Spool: n.spool}, func(a *answer) error {
			c.back(olds[a.Report.ID], news[a.Report.ID], a.Report)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return os.Remove(n.spool)
}

// again returns what another process of the old build makes of an id.
func (r *rehearsal) again(ctx context.Context, id string) (rep *report, err error) {
	if r.twin == nil {
		if r.twin, _, err = r.open(ctx, r.Old, "twin"); err != nil {
			return nil, err
		}
	}
	err = r.twin.ask(request{Do: "read", IDs: []string{id}}, func(a *answer) error {
		rep = a.Report
		return nil
	})
	return rep, err
}
