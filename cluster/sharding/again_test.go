package sharding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/sharding"
)

func TestATypeThatIsStartedAgainWithOtherSettingsIsWarnedOf(t *testing.T) {
	shopWith(t, 1, func(t *testing.T, s *shop) {
		const text = "type started again with other settings, which have no effect; give the same options each time"
		first := s.region("n1")
		s.start("n1")
		require.Same(t, first, s.region("n1"))
		require.Zero(t, s.entries.FilterMessage(text).Len(), "the settings are the same")

		again, err := sharding.Start(s.Node("n1"), "notebook", s.persistent("n1"), sharding.Shards(32),
			sharding.Role("worker"), sharding.StopTimeout(time.Minute), sharding.StopMessage(note{}))
		require.NoError(t, err)
		require.Same(t, first, again)
		said := s.entries.FilterMessage(text).All()
		require.Len(t, said, 1)
		require.Equal(t, "notebook", said[0].ContextMap()["type"])
		require.Equal(t, `Shards was 16 and is now 32, Role was "" and is now "worker", `+
			`StopMessage was not given and is now a sharding_test.note, StopTimeout was 10s and is now 1m0s`,
			said[0].ContextMap()["differences"])
	})
}
