package sharding_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/history"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// explained asks a node where an entity is.
func (s *shop) explained(from, id string) sharding.Explanation {
	s.t.Helper()
	ctx, cancel := contextFor(s.t, 10*time.Second)
	defer cancel()
	e, err := s.region(from).Explain(ctx, id)
	require.NoError(s.t, err)
	return e
}

func TestExplainSaysWhereAnEntityIs(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		time.Sleep(time.Minute)
		for n := range 10 {
			id := fmt.Sprint("e", n)
			e := s.explained("n2", id)
			require.Equal(t, sharding.Running, e.State)
			require.NotZero(t, e.Since)
			require.NotZero(t, e.Term)
			where, err := s.ask("n3", id, "where")
			require.NoError(t, err)
			require.Equal(t, where, e.Node)
			require.Empty(t, e.Why)
		}
		_, err := s.region("n1").Explain(t.Context(), "")
		require.Error(t, err)
	})
}

func TestExplainSaysWhyAShardHasNoHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		start := func(node string, opts ...sharding.Option) *sharding.Region[note] {
			r, err := sharding.Start(c.Node(node), "notebook", func(e sharding.Entity) actor.Behavior[note] { return notebook(e) }, append(opts, sharding.Shards(8))...)
			require.NoError(t, err)
			return r
		}
		proxy := start("n1", sharding.ProxyOnly())
		proxy.Ref("a").Tell(note{Text: "wait"})
		time.Sleep(20 * time.Second)
		e, err := proxy.Explain(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, sharding.Homeless, e.State)
		require.Equal(t, "no member that is up hosts the type", e.Why)
		require.Equal(t, 1, e.Held)
		d := details(t, c.Node("n1"))
		require.Len(t, d.EntityTypes, 1)
		require.Equal(t, 8, d.EntityTypes[0].Homeless)
		for range 1000 {
			proxy.Ref("a").Tell(note{Text: "wait"})
		}
		require.Equal(t, map[error]uint64{sharding.ErrBufferFull: 1}, proxy.Stats().Dropped)
		require.Equal(t, uint64(1), details(t, c.Node("n1")).EntityTypes[0].Dropped["the buffer of the shard is full"])
		require.Equal(t, []homeless{{Type: "notebook", Why: "no member that is up hosts the type", Shards: []int{0, 1, 2, 3, 4, 5, 6, 7}}}, d.Homeless)

		start("n2")
		time.Sleep(20 * time.Second)
		e, err = proxy.Explain(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, sharding.Running, e.State)
		require.Equal(t, "n2", e.Node)
		require.Zero(t, e.Held)
		d = details(t, c.Node("n1"))
		require.Empty(t, d.Homeless)
		require.Equal(t, "n2", d.EntityTypes[0].Homes[0].Name)
		require.Equal(t, 8, d.EntityTypes[0].Homes[0].Shards)
	})
}

// homeless are shards that run nowhere, as the status page shows them.
type homeless struct {
	Type, Why string
	Shards    []int
}

// details returns what the status page of a node shows in its sections of details.
func details(t *testing.T, n *cluster.Node) (d struct {
	EntityTypes []struct {
		Homeless int
		Lease    string
		Homes    []struct {
			Name   string
			Shards int
		}
		Dropped map[string]uint64
	}
	Homeless []homeless
},
) {
	t.Helper()
	recorder := httptest.NewRecorder()
	n.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/details", http.NoBody))
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &d))
	return d
}

func TestWithoutAClusterEachShardIsHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		r, err := sharding.Start(s, "notebook", func(e sharding.Entity) actor.Behavior[note] { return notebook(e) })
		require.NoError(t, err)
		e, err := r.Explain(context.Background(), "a")
		require.NoError(t, err)
		require.Equal(t, sharding.Running, e.State)
		require.Empty(t, e.Node)
	})
}

// values returns the values of a metric of a type of entities, by node.
func values(s *shop, name string) map[string]float64 {
	all := map[string]float64{}
	for _, n := range s.Nodes() {
		for _, f := range telemetry.Gather(n.System) {
			for _, one := range f.Series {
				if f.Name == name && one.Labels[0] == "notebook" {
					all[n.View().Self.Name] += one.Value
				}
			}
		}
	}
	return all
}

func TestMetricsCountShardsAndEntitiesByType(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		s.where("n1", 20)
		time.Sleep(30 * time.Second)
		require.Equal(t, map[string]float64{"n1": 8, "n2": 8}, values(s, "understudy_sharding_shards"))
		require.Equal(t, map[string]float64{"n1": 0, "n2": 0}, values(s, "understudy_sharding_homeless_shards"))
		awake := values(s, "understudy_sharding_entities")
		require.InDelta(t, 20, awake["n1"]+awake["n2"], 0)
		s.Leave("n2")
		require.Equal(t, map[string]float64{"n1": 16}, values(s, "understudy_sharding_shards"))
		require.GreaterOrEqual(t, values(s, "understudy_sharding_moves_total")["n1"], 8.0)
		ring, _ := extension.Get[*history.Ring](s.Node("n1").System)
		moved := slices.IndexFunc(ring.Events("n1"), func(e history.Event) bool { return e.Kind == "shard moved" && e.Reason == "from n2 to n1: drain" })
		require.GreaterOrEqual(t, moved, 0, "%v", ring.Events("n1"))
		require.Contains(t, ring.Events("n1")[moved].Subject, "notebook/")
	})
}
