package sleepers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/understudy-go/understudy/persistence/workflow"
)

const (
	walkers  = 300                    // runs that are in the middle of steps when a node is killed
	paces    = 120                    // steps of each
	pace     = 100 * time.Millisecond // each takes
	killedAt = 4 * time.Second        // after they have begun
)

// walk is the function of a run that is always in the middle of a step.
func walk(e effects) func(w *workflow.Run, number int) (int, error) {
	return func(w *workflow.Run, number int) (int, error) {
		for i := range paces {
			err := workflow.Do(w, fmt.Sprint("pace ", i), func(ctx context.Context) error {
				if err := e.note(number, walking); err != nil {
					return err
				}
				return pass(ctx, pace)
			})
			if err != nil {
				return 0, err
			}
		}
		return number, nil
	}
}

// finish begins walkers, from first on, and waits for their ends.
func finish(ctx context.Context, all *workflow.Type[int, int], first int) error {
	var ends sync.WaitGroup
	errs := make([]error, walkers)
	for i := range walkers {
		ends.Go(func() {
			run, err := all.Run(ctx, strconv.Itoa(first+i), first+i)
			if err == nil {
				_, err = run.Result(ctx)
			}
			errs[i] = err
		})
	}
	ends.Wait()
	return errors.Join(errs...)
}

// kill measures how long the runs of a node are away that is killed in the middle of their steps.
func (t *story) kill(ctx context.Context) (away []time.Duration, err error) {
	first := walkers * t.walks
	t.walks++
	if err := t.nodes[0].Tell("walk " + strconv.Itoa(first)); err != nil {
		return nil, err
	}
	if err := pass(ctx, killedAt); err != nil {
		return nil, err
	}
	killed := t.files[t.at[1]]
	at := time.Now()
	t.nodes[1].Kill()
	if line, ok := t.nodes[0].Line(); !ok || line != "walked" {
		return nil, errors.New("the runs have not come to their ends; the lines above say why")
	}
	last, next := map[int]time.Time{}, map[int]time.Time{}
	for i, file := range t.files {
		all, err := records(file)
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			switch {
			case r.step != walking || r.run < first:
			case file == killed:
				last[r.run] = r.at
			case r.at.After(at) && (next[r.run].IsZero() || r.at.Before(next[r.run])) && i != t.at[1]:
				next[r.run] = r.at
			}
		}
	}
	for run, seen := range last {
		if at.Sub(seen) < 3*pace { // else it had moved before
			away = append(away, next[run].Sub(at))
		}
	}
	return away, t.launch(1, 0, 0)
}

// kills prints how soon runs go on elsewhere.
func (t *story) measureKills(ctx context.Context) error {
	var all []time.Duration
	for range t.kills {
		if err := pass(ctx, t.settle); err != nil {
			return err
		}
		away, err := t.kill(ctx)
		if err != nil {
			return err
		}
		all = append(all, away...)
	}
	if len(all) == 0 {
		return errors.New("the killed node had no runs; give it time to get shards with -settle")
	}
	slices.Sort(all)
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
	fmt.Printf("%d kills: %d runs went on with their next step elsewhere after %v (p50), %v (p99), %v at most\n",
		t.kills, len(all), round(all[len(all)/2]), round(all[len(all)*99/100]), round(all[len(all)-1]))
	return nil
}
