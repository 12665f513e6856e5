package circle

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func edges(text string) (all []Edge[string]) {
	for i := 0; i+1 < len(text); i += 3 {
		all = append(all, Edge[string]{text[i : i+1], text[i+1 : i+2]})
	}
	return all
}

func TestCirclesAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		edges string
		want  [][]string
	}{
		"nobody waits":                     {"", nil},
		"a chain":                          {"ab bc cd", nil},
		"many wait for one":                {"az bz cz", nil},
		"a circle of three":                {"ab bc ca", [][]string{{"a", "b", "c"}}},
		"one that waits for itself":        {"aa", [][]string{{"a"}}},
		"a chain that leads into a circle": {"ab bc cb", [][]string{{"b", "c"}}},
		"two circles":                      {"ab ba cd de ec", [][]string{{"a", "b"}, {"c", "d", "e"}}},
		"one that waits for several":       {"ax ab ba xy", [][]string{{"a", "b"}}},
		"the same edge twice":              {"ab ab ba", [][]string{{"a", "b"}}},
		"a circle seen from another one":   {"ab bc cb cd dc", [][]string{{"b", "c"}, {"c", "d"}}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, Of(edges(c.edges))) })
	}
}

// A walk along the edges comes back to where it began if and only if that is in a circle.
func TestAllCirclesAreFoundWhereEachWaitsForOne(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + random.IntN(20)
		waits, next := []Edge[int]{}, map[int]int{}
		for from := range n {
			to := random.IntN(n)
			waits, next[from] = append(waits, Edge[int]{from, to}), to
		}
		random.Shuffle(n, func(i, j int) { waits[i], waits[j] = waits[j], waits[i] })
		inside := map[int]bool{}
		for _, c := range Of(waits) {
			for i, k := range c {
				require.False(t, inside[k], "in two circles")
				inside[k] = true
				require.Equal(t, c[(i+1)%len(c)], next[k])
			}
		}
		for from := range n {
			at := next[from]
			for range n {
				if at != from {
					at = next[at]
				}
			}
			require.Equal(t, at == from, inside[from], "%d of %v", from, waits)
		}
	}
}

func TestAnEndlessChainNeedsNoStack(t *testing.T) {
	var waits []Edge[int]
	for n := range 100_000 {
		waits = append(waits, Edge[int]{n, n + 1})
	}
	require.Empty(t, Of(waits))
	found := Of(append(waits, Edge[int]{100_000, 0}))
	require.Len(t, found, 1)
	require.Len(t, found[0], 100_001)
}
