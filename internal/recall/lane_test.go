package recall

import (
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

var simSeed = flag.Uint64("sim.seed", 0, "simulate the schedule of this seed only")

// Whatever happens to the instance and the nodes, lanes keep these laws:
//
//   - A message is handled once, or becomes a dead letter with its reason once: without room, after
//     the end of its ask, or on a link that failed. Only a node that crashes loses messages: those
//     that it has, and those on the way to or from it.
//   - Messages of one sender stay in order, unless a link failed.
//   - A lane hands over no message that has waited there past the end of its ask.
//   - In the end nothing waits, and no recall is open.
func TestSimulatedLanesKeepTheLaws(t *testing.T) {
	var found [fates]int
	count := effort.Count[uint64](300, 3000, 30_000)
	for seed := uint64(1); seed <= count; seed++ {
		if *simSeed != 0 {
			seed, count = *simSeed, 0
		}
		s := newLaneSim(drawLane(seed))
		broken := s.run()
		if *simSeed != 0 {
			t.Log(strings.Join(s.log, "\n"))
		}
		require.Empty(t, broken, "%+v", s.plan)
		for f, n := range s.found {
			found[f] += n
		}
	}
	t.Logf("%d schedules: %d handled, %d without room, %d withdrawn, %d unlinked, %d died", count, found[handled], found[noRoom], found[withdrawn], found[unlinked], found[died])
}
