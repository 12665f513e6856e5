// Command timers measures how late the stored timers of sharded entities come:
//
//	go -C internal/lab/postgres run ./timers [-journal sqlite|memory|postgres://…] [-rate 5000] [-seconds 20] [-awake 0]
//
// It fills a journal with timers that are due in a year, and with timers that come due at a steady
// rate. Then it starts the type of entities, and notes how late each timer reaches its handler,
// which persists one event. Each timer belongs to another entity, which sleeps and is recovered for
// it. With -awake they belong to that many entities, which are awake. In PostgreSQL each run makes
// tables in a schema of its own, understudy_timers_ and the time, which stays.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// settings are the values of the flags.
type settings struct {
	journal string
	rate    int // timers that come due in a second
	seconds int
	awake   int // entities; 0 for one that sleeps for each timer
	stored  int // timers that are due much later
	recover int // at the same time
	profile string
}

func main() {
	var s settings
	flag.StringVar(&s.journal, "journal", "sqlite", "sqlite, in a temporary directory, memory, or the URL of a PostgreSQL database")
	flag.IntVar(&s.rate, "rate", 5000, "how many timers come due in a second")
	flag.IntVar(&s.seconds, "seconds", 20, "for how long they do")
	flag.IntVar(&s.awake, "awake", 0, "how many entities have them, all awake; 0: each timer has an entity that sleeps")
	flag.IntVar(&s.stored, "stored", 1_000_000, "how many timers are due in a year")
	flag.IntVar(&s.recover, "recoveries", 50, "how many entities may recover at the same time")
	flag.StringVar(&s.profile, "profile", "", "the file for a profile of the processors; \"\" takes none")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "timers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	store, end, err := open(ctx, s.journal)
	if err != nil {
		return err
	}
	defer end()
	b := &bells{settings: s, store: store}
	if err := b.fill(ctx); err != nil {
		return err
	}
	if late := time.Since(b.first); late > 0 {
		return fmt.Errorf("the first timer was due %v before all were stored; take fewer", late)
	}
	if s.profile != "" {
		f, err := os.Create(s.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	r, err := b.ring(ctx)
	if err == nil {
		fmt.Println(r)
	}
	return err
}

func open(ctx context.Context, name string) (store journal.TimerStore, end func(), err error) {
	switch {
	case strings.HasPrefix(name, "postgres"):
		j, err := postgres.Open(ctx, name, postgres.Schema(fmt.Sprint("understudy_timers_", time.Now().Unix())))
		if err != nil {
			return nil, nil, err
		}
		return j, func() { _ = j.Close() }, nil
	case name == "memory":
		return journal.NewMemory(), func() {}, nil
	case name == "sqlite":
		dir, err := os.MkdirTemp("", "timers")
		if err != nil {
			return nil, nil, err
		}
		j, err := sqlite.Open(filepath.Join(dir, "journal.db")) //nolint:contextcheck // opening a file needs none
		if err != nil {
			return nil, nil, err
		}
		return j, func() { _, _ = j.Close(), os.RemoveAll(dir) }, nil
	}
	return nil, nil, fmt.Errorf("-journal %s: unknown; it takes sqlite, memory or postgres://…", name)
}

// lead is how long before the first timer the measurement begins: entities that are to be awake
// start, and the first wakes are read.
func (s settings) lead() time.Duration {
	return 15*time.Second + time.Duration(s.timers()/1000)*time.Second
}

func (s settings) timers() int { return s.rate * s.seconds }

// entities returns how many entities have timers that come due.
func (s settings) entities() int {
	if s.awake > 0 {
		return s.awake
	}
	return s.timers()
}
