package sleepers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/lab/journals"
	"github.com/understudy-go/understudy/internal/process"
)

const (
	leaving = 15 * time.Second // in which runs that sleep leave memory
	stalled = 5 * time.Minute  // without a step, nothing is expected to come
	inWork  = 10_000           // runs that a node may have had in work when it was killed
)

// A story starts three nodes, lets their runs sleep, and kills one while they wake.
type story struct {
	settings
	dir   string
	binds []string
	nodes []*process.Process
	files []string // of effects; a node that starts again has another
	at    [3]int   // of the file of each node
	walks int
}

func newStory(s settings, dir string) *story { return &story{settings: s, dir: dir} }

func (t *story) tell(ctx context.Context) (err error) {
	t.wake = time.Now().Add(t.span)
	defer func() {
		for _, p := range t.nodes {
			p.Kill()
		}
	}()
	fmt.Printf("%d runs on three processes, journal %s; all wake at %s\n", t.runs, journals.Shown(t.journal), t.wake.Format(time.TimeOnly))
	if err := t.begin(ctx); err != nil {
		return err
	}
	if late := time.Since(t.wake); late > 0 {
		return fmt.Errorf("the runs woke %v before all had begun: let them sleep longer with -span", late.Round(time.Second))
	}
	if err := pass(ctx, min(leaving, time.Until(t.wake))); err != nil {
		return err
	}
	if err := t.memory(); err != nil {
		return err
	}
	if err := pass(ctx, time.Until(t.wake)); err != nil {
		return err
	}
	if err := t.waken(ctx); err != nil {
		return err
	}
	if err := t.check(); err != nil || t.kills == 0 {
		return err
	}
	return t.measureKills(ctx)
}

// launch starts a node, which begins some runs.
func (t *story) launch(i, from, to int) error {
	file := filepath.Join(t.dir, fmt.Sprint("effects-", len(t.files)))
	t.at[i], t.files = len(t.files), append(t.files, file)
	p, err := process.Start(process.Self(nil, "-node", name(i), "-bind", t.binds[i], "-seeds", strings.Join(t.binds, ","), "-journal", t.journal,
		"-effects", file, "-runs", strconv.Itoa(t.runs), "-from", strconv.Itoa(from), "-to", strconv.Itoa(to), "-wake", strconv.FormatInt(t.wake.UnixMilli(), 10)))
	if err != nil {
		return err
	}
	if i < len(t.nodes) {
		t.nodes[i] = p
	} else {
		t.nodes = append(t.nodes, p)
	}
	if line, ok := p.Line(); !ok || line != "open" {
		return fmt.Errorf("%s has not started; the lines above say why", name(i))
	}
	if from == to {
		p.Line() // that it has begun none
	}
	return nil
}

func name(i int) string { return fmt.Sprint("node-", i+1) }

func (t *story) begin(ctx context.Context) (err error) {
	if t.binds, err = process.FreeAddresses(3); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		for _, p := range t.nodes {
			p.Kill()
		}
	})()
	began := time.Now()
	for i := range 3 {
		if err := t.launch(i, t.runs*i/3, t.runs*(i+1)/3); err != nil {
			return err
		}
	}
	for i, p := range t.nodes {
		line, ok := p.Line()
		if !ok {
			return fmt.Errorf("%s has ended; the lines above say why", name(i))
		}
		fmt.Printf("%s has %s\n", name(i), line)
	}
	fmt.Printf("begun, with their first steps: %.0f runs a second\n", float64(t.runs)/time.Since(began).Seconds())
	return nil
}

// memory prints what the nodes need while all runs sleep.
func (t *story) memory() error {
	for i := range t.nodes {
		line, err := t.ask(i, "memory")
		if err != nil {
			return err
		}
		fmt.Printf("while they sleep, %s has %s\n", name(i), line)
	}
	return nil
}

func (t *story) ask(i int, what string) (string, error) {
	if err := t.nodes[i].Tell(what); err != nil {
		return "", err
	}
	line, ok := t.nodes[i].Line()
	if !ok {
		return "", fmt.Errorf("%s has ended; the lines above say why", name(i))
	}
	return line, nil
}

// waken waits until all runs have made their second steps, and kills a node at the half.
func (t *story) waken(ctx context.Context) error {
	before, killed, last, moved := t.executed(), false, 0, time.Now()
	for t.executed() < 2*t.runs {
		if err := pass(ctx, time.Second); err != nil {
			return err
		}
		done := t.executed() - before
		switch {
		case done > last:
			last, moved = done, time.Now()
		case time.Since(moved) > stalled:
			return fmt.Errorf("%d runs have woken, and no more in %v", done, stalled)
		}
		if !killed && done >= t.runs/2 {
			killed = true
			fmt.Printf("%d have woken in %v: %s is killed, and starts again\n", done, time.Since(t.wake).Round(time.Second), name(1))
			t.nodes[1].Kill()
			if err := t.launch(1, 0, 0); err != nil {
				return err
			}
		}
	}
	fmt.Printf("woken, with their second steps: %.0f runs a second\n", float64(t.runs)/time.Since(t.wake).Seconds())
	return nil
}

// executed returns how many steps have been executed.
func (t *story) executed() (n int) {
	for _, file := range t.files {
		if info, err := os.Stat(file); err == nil { // else its node has not made it yet
			n += int(info.Size()) / recordSize
		}
	}
	return n
}

// check asks for results, and counts what the steps have done.
func (t *story) check() error {
	if _, err := t.ask(0, "results"); err != nil {
		return err
	}
	c := newCounts(t.runs)
	for _, file := range t.files {
		all, err := records(file)
		if err == nil {
			err = c.add(all)
		}
		if err != nil {
			return err
		}
	}
	fmt.Printf("first steps: %d of %d runs, %d repeated; second steps: %d, %d repeated, which %s had in work when it was killed\n",
		c.runs[before], t.runs, c.repeated[before], c.runs[after], c.repeated[after], name(1))
	if c.runs[before] != t.runs || c.runs[after] != t.runs {
		return errors.New("runs were lost")
	}
	if c.repeated[before] > 0 || c.repeated[after] > inWork {
		return errors.New("steps were repeated without a reason")
	}
	return nil
}

func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
