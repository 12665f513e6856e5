package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/understudy-go/understudy/internal/lab/page"
	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

// enough is how long the runs of a library in a scenario may have taken before it takes no more
// turns.
const enough = 5 * time.Second

// defaultPatience is how long one run may take. The slowest takes some seconds on two cores.
const defaultPatience = 2 * time.Minute

// A plan says which libraries and scenarios to compare, and how often.
type plan struct {
	scenarios, libraries *regexp.Regexp // nil is all
	rounds               int
	scale                float64
	quick                bool // whatever scale says, steady scenarios are whole
	patience             time.Duration
	checkouts            map[string]string // of libraries that the module proxy does not have: directories
	args                 []string          // of the command
	page                 string            // the file whose tables are replaced, or empty
}

// compare runs all scenarios, and prints the table.
func (p plan) compare(ctx context.Context, out, progress io.Writer) error {
	scenarios := p.chosenScenarios()
	if len(scenarios) == 0 {
		return errors.New("no scenario has such a name")
	}
	programs, err := p.build(ctx, progress)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(programs) }()
	t, began := table{spread: p.page == ""}, time.Now()
	for _, s := range scenarios {
		all, err := p.takeTurns(ctx, programs, s, progress)
		if err != nil {
			return err
		}
		t.rows = append(t.rows, row{s, all})
	}
	t.state = p.state(ctx, time.Since(began))
	if p.page != "" {
		return errors.Join(
			os.WriteFile(filepath.Join(filepath.Dir(p.page), plotName), []byte(t.plot().SVG()), 0o644), //nolint:gosec // a picture for all to see
			page.Replace(p.page, pageBegin, t.String()))
	}
	_, err = io.WriteString(out, t.String())
	return err
}

// build makes the programs of the libraries, and returns where they are. Each library has a
// program of its own: two of them could not register their protobuf messages in one.
func (p plan) build(ctx context.Context, progress io.Writer) (string, error) {
	dir, err := os.MkdirTemp("", "peerbench")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", dir, "./understudy", "./protoactor", "./hollywood", "./channels")
	cmd.Stdout, cmd.Stderr = progress, progress
	if err := cmd.Run(); err != nil {
		return "", errors.Join(fmt.Errorf("%v: %w; run peerbench in its own directory", cmd.Args, err), os.RemoveAll(dir))
	}
	for library, checkout := range p.checkouts {
		if err := buildWith(ctx, library, checkout, dir, progress); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// takeTurns runs a scenario on all libraries, one after the other, once per round.
func (p plan) takeTurns(ctx context.Context, programs string, s bench.Scenario, progress io.Writer) (map[string]results, error) {
	all, spent := map[string]results{}, map[string]time.Duration{}
	for round := range p.rounds {
		for _, l := range p.chosenLibraries(s) {
			if spent[l.name] > enough {
				continue
			}
			began := time.Now()
			r, err := p.run(ctx, programs, s, l)
			spent[l.name] += time.Since(began)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			said := r.String()
			if err != nil {
				said = err.Error()
			}
			if _, err := fmt.Fprintf(progress, "%s %d/%d %s: %s\n", s.Name, round+1, p.rounds, l.name, said); err != nil {
				return nil, err
			}
			got := all[l.name]
			got.add(r, err)
			all[l.name] = got
		}
	}
	return all, nil
}

func (p plan) chosenScenarios() (chosen []bench.Scenario) {
	for _, s := range bench.Scenarios {
		if p.scenarios == nil || p.scenarios.MatchString(s.Name) {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// chosenLibraries returns the libraries that run a scenario.
func (p plan) chosenLibraries(s bench.Scenario) (chosen []library) {
	for _, l := range libraries {
		there := !l.checkout || p.checkouts[l.name] != ""
		if (p.libraries == nil || p.libraries.MatchString(l.name)) && l.takesPart(s.Name) && there {
			chosen = append(chosen, l)
		}
	}
	return chosen
}

// run does one run in a process of its own.
func (p plan) run(ctx context.Context, programs string, s bench.Scenario, l library) (bench.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, l.program), fmt.Sprintf("%s/%s/%d", s.Name, l.configuration, s.Scaled(p.scaleOf(s))))
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return bench.Result{}, fmt.Errorf("not done after %v: %w", p.patience, ctx.Err())
	case err != nil:
		return bench.Result{}, fmt.Errorf("%w: %s", err, head(complaints.Bytes()))
	}
	var r bench.Result
	if err := json.Unmarshal(lastLine(out.Bytes()), &r); err != nil {
		return bench.Result{}, fmt.Errorf("what it printed: %w", err)
	}
	return r, nil
}

func (p plan) scaleOf(s bench.Scenario) float64 {
	if p.quick && s.Steady {
		return 1
	}
	return p.scale
}

// lastLine returns the line with the result: libraries may print before it.
func lastLine(b []byte) []byte {
	b = bytes.TrimSpace(b)
	return b[bytes.LastIndexByte(b, '\n')+1:]
}

// head returns the beginning of a program's error output.
func head(b []byte) []byte {
	const most = 300
	return b[:min(len(b), most)]
}
