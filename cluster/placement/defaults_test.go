package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	c, err := Config{}.withDefaults()
	require.NoError(t, err)
	require.Empty(t, godoc.Check(".",
		godoc.Is("Config.Strategy", "The default is [LeastLoaded].", LeastLoaded().Name(), c.Strategy.Name()),
		godoc.Is("Config.Election", "The default is cluster.Oldest.", cluster.Oldest().Name, c.Election.Name),
		godoc.Is("Config.Role", "The default, \"\", allows all nodes.", "", c.Role),
		godoc.Is("Config.Generations", "The default is nil: the coordinator issues them in cluster.Config.Journal.", nil, c.Generations),
		godoc.Is("Config.RemovalMargin", "The default is what the cluster recommends", time.Duration(0), c.RemovalMargin),
		godoc.Is("Config.AckTimeout", "The default is 5 s.", 5*time.Second, c.AckTimeout),
		godoc.Is("Config.Retry", "The default is from 1 s to 1 min.", [2]time.Duration{time.Second, time.Minute}, [2]time.Duration{c.Retry.Min, c.Retry.Max}),
		godoc.Is("Config.DrainTimeout", "The default is 30 s.", 30*time.Second, c.DrainTimeout),
		godoc.Is("Spec.OnCrash", "The default is [Redistribute].", Redistribute(), Spec{}.OnCrash),
		godoc.Is("SingletonSpec.DrainTimeout", "The default is 0: wait as long as its node is a member.", time.Duration(0), SingletonSpec{}.DrainTimeout),
	))
}
