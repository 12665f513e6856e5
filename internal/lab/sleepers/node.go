package sleepers

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/workflow"
)

// beginners is how many runs a node begins at the same time.
const beginners = 64

// serve is one of the three processes. It begins its runs, and then answers each line of its input
// with a line about its memory.
func serve(ctx context.Context, s settings) error {
	journal, err := s.open(ctx, s.journal)
	if err != nil {
		return err
	}
	defer journal.Close()
	file, err := os.OpenFile(s.effects, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	node, err := cluster.Start(ctx, cluster.Config{Name: "sleepers", NodeID: s.node, Bind: s.bind, Seeds: s.seeds, Journal: journal, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	done := effects{file}
	all, err := workflow.Start(node, "sleeper", func(w *workflow.Run, wake time.Time) (int, error) {
		number, err := strconv.Atoi(w.ID())
		if err != nil {
			return 0, err
		}
		if err := workflow.Do(w, "before", func(context.Context) error { return done.note(number, before) }); err != nil {
			return 0, err
		}
		if err := workflow.Sleep(w, time.Until(wake)); err != nil {
			return 0, err
		}
		return number, workflow.Do(w, "after", func(context.Context) error { return done.note(number, after) })
	})
	if err != nil {
		return err
	}
	walks, err := workflow.Start(node, "walker", walk(done))
	if err != nil {
		return err
	}
	fmt.Println("open")
	began := time.Now()
	if err := begin(ctx, all, s); err != nil {
		return err
	}
	fmt.Printf("begun %d in %v\n", s.to-s.from, time.Since(began).Round(time.Second))
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		switch word, rest, _ := strings.Cut(orders.Text(), " "); word {
		case "walk":
			first, err := strconv.Atoi(rest)
			if err == nil {
				err = finish(ctx, walks, first)
			}
			if err != nil {
				return err
			}
			fmt.Println("walked")
		case "memory":
			fmt.Println(memory())
		case "results":
			if err := results(ctx, all, s.runs); err != nil {
				return err
			}
			fmt.Println("right")
		}
	}
	return node.Leave(context.WithoutCancel(ctx))
}

// results asks for those of a thousand runs.
func results(ctx context.Context, all *workflow.Type[time.Time, int], runs int) error {
	for i := 0; i < runs; i += max(runs/1000, 1) {
		got, err := all.Handle(strconv.Itoa(i)).Result(ctx)
		if err == nil && got != i {
			err = fmt.Errorf("its result is %d", got)
		}
		if err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
	}
	return nil
}

func begin(ctx context.Context, all *workflow.Type[time.Time, int], s settings) error {
	var beginning sync.WaitGroup
	failed := make(chan error, beginners)
	for first := range beginners {
		beginning.Go(func() {
			for i := s.from + first; i < s.to; i += beginners {
				if _, err := all.Run(ctx, strconv.Itoa(i), s.wake); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	beginning.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func memory() string {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%d MB of heap, %d goroutines", m.HeapAlloc>>20, runtime.NumGoroutine())
}
