package cluster

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// naming gives each node its own list of seeds.
func (f *testCluster) naming(lists map[string][]string) {
	f.tune = func(c *Config) {
		c.Seeds = nil
		for _, name := range lists[c.NodeID] {
			c.Seeds = append(c.Seeds, address(name))
		}
	}
}

func TestNodesThatNameEachOtherFormOneCluster(t *testing.T) {
	for what, lists := range map[string]map[string][]string{
		"each the other":           {"n1": {"n2"}, "n2": {"n1"}},
		"a ring":                   {"n1": {"n2"}, "n2": {"n3"}, "n3": {"n1"}},
		"all one":                  {"n1": {"n2", "n3"}, "n2": {"n1"}, "n3": {"n1"}},
		"themselves as well":       {"n1": {"n2", "n1"}, "n2": {"n1", "n2"}},
		"and one whom they do not": {"n1": {"n2"}, "n2": {"n1"}, "n3": {"n2"}},
		"and a first seed":         {"n1": {"n2", "n3"}, "n2": {"n1", "n3"}, "n3": {"n3", "n1", "n2"}},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *testCluster) {
				f.naming(lists)
				var names []string
				for name := range lists {
					names = append(names, name)
				}
				slices.Sort(names)
				begin := time.Now()
				f.start(names...)
				require.Less(t, time.Since(begin), 5*time.Second)
				f.await(5*time.Second, names...)
			})
		})
	}
}

func TestOneOfTwoThatNameEachOtherWaitsAndSaysForWhom(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.naming(map[string][]string{"n1": {"n2"}, "n2": {"n1"}})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := Start(ctx, f.config("n1"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "n2:7355")
		f.start("n1", "n2")
		f.await(5*time.Second, "n1", "n2")
	})
}
