package sharding_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A basket has things and, of its customer, what not everybody may see.
type (
	basket struct {
		Things   map[string]int
		Card     string `understudy:"secret"`
		Password string
		Picture  []byte
		Since    time.Time
	}
	thing struct{ Name string }
	takes struct{ Thing string }
)

func init() {
	actor.RegisterType[thing]("sharding_test.thing")
	actor.RegisterType[takes]("sharding_test.takes")
	actor.RegisterType[basket]("sharding_test.basket")
}

func basketOf(e sharding.Entity, j persistence.Journal, opts ...persistence.Option) actor.Behavior[takes] {
	begin := basket{Card: "1234", Password: "hunter2", Picture: make([]byte, 12), Since: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}
	return behaviors.Supervise(behaviors.Setup(func(*actor.Context[takes]) actor.Behavior[takes] {
		return behaviors.EventSourced(e.PersistenceID(), j, begin, func(b basket, t thing) basket {
			b.Things = maps.Clone(b.Things)
			if b.Things == nil {
				b.Things = map[string]int{}
			}
			b.Things[t.Name]++
			return b
		}, func(_ *actor.Context[takes], _ basket, t takes) persistence.Effect[thing] {
			return persistence.Persist(thing{t.Thing})
		}, opts...)
	}), actor.Strategy{})
}

// A counter is a window into a cluster whose node n2 has baskets, and serves what they have stored.
type counter struct {
	*testing.T
	cluster *clustertest.Cluster
	baskets *sharding.Region[takes]
	handler http.Handler
}

func atTheCounter(t *testing.T, f func(c *counter), opts ...persistence.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, store := &counter{T: t, cluster: clustertest.Start(t, 2)}, journal.NewMemory()
		for _, name := range []string{"n1", "n2"} {
			r, err := sharding.Start(c.cluster.Node(name), "basket", func(e sharding.Entity) actor.Behavior[takes] { return basketOf(e, store, opts...) }, sharding.Shards(8))
			require.NoError(t, err)
			c.baskets = r
			_, err = sharding.Start(c.cluster.Node(name), "plain", func(sharding.Entity) actor.Behavior[takes] {
				return behaviors.Receive(func(*actor.Context[takes], takes) actor.Behavior[takes] { return behaviors.Same })
			}, sharding.Shards(8))
			require.NoError(t, err)
		}
		c.handler = c.cluster.Node("n2").Handler(cluster.ShowStates(func(r *http.Request) error {
			if r.Header.Get("Clerk") == "" {
				return errors.New("clerks only")
			}
			return nil
		}, func(_ reflect.Type, f reflect.StructField) bool { return f.Name == "Password" }))
		c.cluster.AwaitQuiet()
		time.Sleep(10 * time.Second)
		f(c)
	})
}

func (c *counter) take(id string, things ...string) {
	for _, t := range things {
		c.baskets.Ref(id).Tell(takes{t})
		time.Sleep(time.Minute)
	}
}

func (c *counter) get(query string) (int, string) {
	c.Helper()
	r := httptest.NewRequestWithContext(c.Context(), http.MethodGet, "/entity?"+query, nil)
	r.Header.Set("Clerk", "yes")
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func (c *counter) shown(query string) (e map[string]any) {
	c.Helper()
	code, body := c.get(query)
	require.Equal(c, http.StatusOK, code, body)
	require.NoError(c, json.Unmarshal([]byte(body), &e))
	return e
}

func TestWhatAnEntityHasStoredIsShownWithoutItsSecrets(t *testing.T) {
	atTheCounter(t, func(c *counter) {
		c.take("42", "tea", "cup", "tea")
		e := c.shown("type=basket&id=42")
		require.Equal(c, "basket|42", e["persistenceID"])
		require.EqualValues(c, 3, e["seq"])
		require.Equal(c, map[string]any{
			"Things": map[string]any{"tea": 2.0, "cup": 1.0}, "Card": "<secret>", "Password": "<secret>", "Picture": "<12 bytes>", "Since": "2026-11-30T00:00:00Z",
		}, e["state"])
		require.Empty(c, e["events"])

		c.take("42", "pot") // it runs on undisturbed
		require.EqualValues(c, 4, c.shown("type=basket&id=42")["seq"])
		require.EqualValues(c, 0, c.shown("type=basket&id=nobody")["seq"])
	})
}

func TestAStateOfThePastIsShownAndWhatHasChangedSince(t *testing.T) {
	for name, opts := range map[string][]persistence.Option{"events": nil, "snapshots": {persistence.SnapshotEvery(2, 5)}} {
		t.Run(name, func(t *testing.T) {
			atTheCounter(t, func(c *counter) {
				begun := time.Now()
				c.take("42", "tea", "cup", "tea", "pot", "tea")
				things := func(query string) any {
					return c.shown("type=basket&id=42&" + query)["state"].(map[string]any)["Things"]
				}
				require.Equal(c, map[string]any{"tea": 1.0, "cup": 1.0}, things("at=2"))
				require.Equal(c, map[string]any{"tea": 2.0, "cup": 1.0}, things("at="+url.QueryEscape(begun.Add(150*time.Second).Format(time.RFC3339))))
				require.Empty(c, things("at="+url.QueryEscape(begun.Add(-time.Hour).Format(time.RFC3339))))
				e := c.shown("type=basket&id=42&events=2&diff=2")
				require.Equal(c, []any{
					map[string]any{"path": "Things.pot", "before": nil, "after": 1.0}, map[string]any{"path": "Things.tea", "before": 1.0, "after": 3.0},
				}, e["changes"])
				events := e["events"].([]any)
				require.Len(c, events, 2)
				require.Equal(c, map[string]any{"Name": "pot"}, events[0].(map[string]any)["event"])
				require.Equal(c, "sharding_test.thing", events[1].(map[string]any)["type"])
			}, opts...)
		})
	}
}

func TestWhatCannotBeShownSaysWhy(t *testing.T) {
	atTheCounter(t, func(c *counter) {
		for query, want := range map[string]struct {
			code int
			text string
		}{
			"":                           {http.StatusBadRequest, "name an actor: ?type=TYPE&id=ID"},
			"type=basket":                {http.StatusBadRequest, "name an actor"},
			"type=basket&id=1&at=x":      {http.StatusBadRequest, "neither the number of an event"},
			"type=basket&id=1&events=-1": {http.StatusBadRequest, "from 0 to 1000"},
			"type=basket&id=1&diff=0":    {http.StatusBadRequest, "not the number of an event"},
			"type=tub&id=1":              {http.StatusNotFound, `no entities of a type "tub", but of basket, plain`},
			"type=plain&id=1":            {http.StatusNotFound, "neither event-sourced nor a durable state"},
		} {
			code, body := c.get(query)
			require.Equal(c, want.code, code, query)
			require.Contains(c, body, want.text)
		}
		w := httptest.NewRecorder()
		c.handler.ServeHTTP(w, httptest.NewRequestWithContext(c.Context(), http.MethodGet, "/entity?type=basket&id=1", nil))
		require.Equal(c, http.StatusForbidden, w.Code)
		require.Contains(c, w.Body.String(), "clerks only")
		w = httptest.NewRecorder()
		c.cluster.Node("n1").Handler().ServeHTTP(w, httptest.NewRequestWithContext(c.Context(), http.MethodGet, "/entity?type=basket&id=1", nil))
		require.Equal(c, http.StatusNotFound, w.Code)
		require.Contains(c, w.Body.String(), "cluster.ShowStates")
	})
}
