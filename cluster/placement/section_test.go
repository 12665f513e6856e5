package placement

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProblemsOfPlacementSayWhyAnActorDoesNotRunWhereItShould(t *testing.T) {
	for want, a := range map[string]shownActor{
		"disk-1 is not placed: no eligible nodes.":                                          {Trouble: true, Why: "no eligible nodes"},
		"disk-1 does not run: spawning on n2.":                                              {Node: "n2", Trouble: true, Why: "spawning on n2"},
		"disk-1 cannot leave n2, whose actors are to be moved away: the reason is unknown.": {Node: "n2", Running: true, Trouble: true},
	} {
		a.Label = "disk-1"
		found := problemsOf(&overview{Actors: []shownActor{{Label: "disk-2", State: "pending"}, a}}, "")
		require.Len(t, found, 1)
		require.Equal(t, want, found[0].Text)
		require.Equal(t, "disk-1", found[0].About)
	}
	require.Equal(t, "The coordinator of placement does not answer: it moves.", problemsOf(nil, "it moves")[0].Text)
	require.Empty(t, problemsOf(nil, ""), "it was not asked yet")
}
