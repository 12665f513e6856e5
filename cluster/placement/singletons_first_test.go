package placement

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// Several clients start the same new singleton at once. The source fails now and then, with or
// without effect, and coordinators are replaced. No client asks for a move or a stop, so none is
// answered that one is in progress.
func TestOfFirstStartsAtOnceNoneIsTheOthersHandOver(t *testing.T) {
	t.Parallel()
	anchors := []Anchor{Leader(), Role("w"), OnNode("b")}
	answers := map[bool]int{} // those that fail, and others
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a schedule, not a secret
		r := newSourceRig(t, newFakeSource(), "a:w", "b:w")
		r.holdCalls = true
		var asked []home.Token
		var story []string
		for range 15 {
			switch p := rng.IntN(9); {
			case p < 2 && len(asked) < 3:
				story = append(story, "start")
				asked = append(asked, r.start("catalog", anchors[seed%3]))
			case p == 8:
				story = append(story, "another coordinator")
				for _, c := range r.calls {
					if rng.IntN(2) == 0 {
						r.source.claim(c)
					}
				}
				r.boot()
			case len(r.calls) == 0:
				r.pass(time.Second)
			case p == 2:
				story = append(story, "fails")
				r.failNext(false)
			case p == 3:
				story = append(story, "seems to fail")
				r.failNext(true)
			case p == 4:
				story = append(story, "is not answered in time")
				late := r.calls[0]
				r.calls = r.calls[1:]
				if rng.IntN(2) == 0 {
					r.source.claim(late)
				}
				r.pass(4 * time.Second)
			default:
				story = append(story, "answered")
				r.answerNext()
			}
		}
		for _, to := range asked {
			if a, ok := r.answers[to]; ok {
				require.NotErrorIs(t, a.Err, ErrInProgress, "seed %d: %q: %v", seed, story, to)
				answers[a.Err != nil]++
			}
		}
	}
	require.Greater(t, answers[true], 500)
	require.Greater(t, answers[false], 500)
}

// failNext makes the source fail the last held call.
func (r *singletonsRig) failNext(happens bool) {
	next := r.calls[0]
	r.calls = r.calls[1:]
	if happens {
		r.source.claim(next)
	}
	r.step(termClaimed{Number: next.Number, Err: errStore})
}
