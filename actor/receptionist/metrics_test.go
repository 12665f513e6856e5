package receptionist_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/telemetrytest"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func TestServicesAndTheirInstancesAreCounted(t *testing.T) {
	inCluster(t, 2, func(t *testing.T, c *clustertest.Cluster) {
		s := c.Node("n1").System
		first := hire(c.Node("n1"), "a")
		hire(c.Node("n2"), "b")
		hire(c.Node("n2"), "c")
		time.Sleep(time.Second)
		require.Equal(t, 1, telemetrytest.Value(t, s, "understudy_services"))
		require.Equal(t, 1, telemetrytest.Value(t, s, "understudy_service_instances", "here"))
		require.Equal(t, 2, telemetrytest.Value(t, s, "understudy_service_instances", "elsewhere"))
		first.Tell(job{})
		time.Sleep(time.Second)
		require.Zero(t, telemetrytest.Value(t, s, "understudy_service_instances", "here"))
		require.Equal(t, 1, telemetrytest.Value(t, s, "understudy_services"))
		telemetrytest.Check(t, s)
	})
}
