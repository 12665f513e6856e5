package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// A chore is a command, sent or by a timer. Its event has its name.
type chore struct{ Name string }

func init() { actor.RegisterType[chore]("sqlite_test.chore") }

// A household is an actor that has chores to come, and what happens to it outside of its journal.
type household struct {
	*testing.T
	begun time.Time

	mu     sync.Mutex // guards all below
	came   []string   // the timers that have come, each as key#attempt due +when
	chores []string   // the latest state
}

func (h *household) behavior(j journal.Journal) actor.Behavior[chore] {
	return persistence.New("household", j, nil, func(all []string, c chore) []string { return append(slices.Clip(all), c.Name) }, h.handle)
}

func (h *household) handle(ctx *actor.Context[chore], all []string, c chore) persistence.Effect[chore] {
	t, fired := persistence.TimerOf(ctx)
	h.note(all, t, fired)
	effect := persistence.Persist(c)
	switch {
	case c.Name == "begin":
		for key, due := range map[string]int{"early": 10, "held": 15, "between": 40, "moved": 120, "cancelled": 180, "late": 240} {
			effect = h.schedule(effect, key, due)
		}
	case c.Name == "change":
		effect = h.schedule(h.schedule(effect.Cancel("cancelled").ThenUnstashAll(), "moved", 300), "new", 200)
	case c.Name == "held" && t.Attempt == 1 && !slices.Contains(all, "change"):
		return persistence.Stash
	}
	return effect
}

// schedule adds a timer that is due that many minutes after the beginning.
func (h *household) schedule(e persistence.Effect[chore], key string, minutes int) persistence.Effect[chore] {
	return e.Schedule(key, h.at(minutes), chore{key})
}

func (h *household) at(minutes int) time.Time {
	return h.begun.Add(time.Duration(minutes) * time.Minute)
}

func (h *household) note(all []string, t persistence.Timer, fired bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.chores = all
	if fired {
		since := func(t time.Time) int { return int(t.Sub(h.begun) / time.Minute) }
		h.came = append(h.came, fmt.Sprintf("%s@%d #%d +%d", t.Key, since(t.Due), t.Attempt, since(time.Now())))
	}
}

// taken returns the timers that have come since the last call.
func (h *household) taken() (came []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	came, h.came = h.came, nil
	return came
}

// until lets time pass until that many minutes after the beginning.
func (h *household) until(minutes int) {
	time.Sleep(time.Until(h.at(minutes)) + time.Second)
}

// A backup is of minute 20, and the database is lost in minute 80.
func TestAnOlderCopyHasTheTimersOfItsMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &household{T: t, begun: time.Now()}
		j, backup := openTest(t), filepath.Join(t.TempDir(), "backup.db")
		system := testkit.NewSystem(t)
		ref := actor.Spawn(system, h.behavior(j), "")
		ref.Tell(chore{"begin"})
		h.until(20)
		require.Equal(t, []string{"early@10 #1 +10", "held@15 #1 +15"}, h.taken())
		alter(t, pathOf(j), "VACUUM INTO ?", backup)

		h.until(50)
		ref.Tell(chore{"change"})
		h.until(80)
		require.Equal(t, []string{"between@40 #1 +40", "held@15 #1 +50"}, h.taken())
		require.NoError(t, system.Shutdown(t.Context()))

		restored := openPath(t, backup)
		require.NoError(t, restored.Check(t.Context()))
		actor.Spawn(testkit.NewSystem(t), h.behavior(restored), "")
		h.until(600)
		require.Equal(t, []string{
			"held@15 #2 +80",    // the copy has its first attempt
			"between@40 #1 +80", // it has come before, with the same key and time
			"moved@120 #1 +120", "cancelled@180 #1 +180", "late@240 #1 +240",
		}, h.taken(), "nothing after the copy has been")
		require.Equal(t, []string{"begin", "early", "held", "between", "moved", "cancelled"}, h.chores, "before the last one")
		left, err := restored.Timers(t.Context(), "household")
		require.NoError(t, err)
		require.Empty(t, left)
	})
}

// A claim that was made after the copy has the epoch that the copy gives next.
func TestAnOlderCopyGivesEpochsAgain(t *testing.T) {
	j, backup := openTest(t), filepath.Join(t.TempDir(), "backup.db")
	appendTimed(t, j, "x", "a")
	alter(t, pathOf(j), "VACUUM INTO ?", backup)
	restored := openPath(t, backup)
	for _, store := range []*Journal{j, restored} {
		claim, err := store.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		require.Equal(t, uint64(2), claim.Epoch)
		require.Equal(t, uint64(1), claim.LastSeq)
		require.Len(t, claim.Timers, 1)
	}
}
