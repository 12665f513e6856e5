package sharding_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A hospital is a cluster with one ward on each node.
type hospital struct {
	*clustertest.Cluster
	t       *testing.T
	store   *journal.Memory
	wards   map[string]*ward
	regions map[string]*sharding.Region[note]
}

func inHospital(t *testing.T, nodes int, f func(t *testing.T, h *hospital)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &hospital{t: t, store: journal.NewMemory(), wards: map[string]*ward{}, regions: map[string]*sharding.Region[note]{}}
		h.Cluster = clustertest.Start(t, nodes, clustertest.WithJournal(h.store))
		for n := range nodes {
			h.open(fmt.Sprint("n", n+1))
		}
		f(t, h)
	})
}

func (h *hospital) open(name string) {
	h.t.Helper()
	h.wards[name] = newWard()
	r, err := sharding.Start(h.Node(name), "patients", h.wards[name].patient, sharding.Shards(16), sharding.Remember())
	require.NoError(h.t, err)
	h.regions[name] = r
}

// all returns the entities that run, by node.
func (h *hospital) all() map[string]string {
	at := map[string]string{}
	for name, w := range h.wards {
		for _, id := range w.list() {
			require.NotContains(h.t, at, id)
			at[id] = name
		}
	}
	return at
}

func TestRememberedEntitiesMoveWithoutAMessage(t *testing.T) {
	inHospital(t, 2, func(t *testing.T, h *hospital) {
		for n := range 50 {
			read(t, h.regions["n2"].Ref(fmt.Sprint("p", n)))
		}
		read(t, h.regions["n2"].Ref("leaves"))
		h.regions["n1"].Ref("leaves").Tell(note{Text: "passivate"})
		time.Sleep(2 * time.Minute) // balanced
		require.Len(t, h.all(), 50)
		require.NotEmpty(t, h.wards["n1"].list())
		require.NotEmpty(t, h.wards["n2"].list())

		crashed := h.wards["n2"].list()
		h.Crash("n2")
		delete(h.wards, "n2")
		time.Sleep(time.Minute)
		require.Len(t, h.all(), 50)
		require.Subset(t, h.wards["n1"].list(), crashed)

		h.Add("n3")
		h.open("n3")
		time.Sleep(2 * time.Minute)
		require.NotEmpty(t, h.wards["n3"].list())
		require.NoError(t, h.Node("n1").Leave(t.Context()))
		time.Sleep(10 * time.Second)
		require.Empty(t, h.wards["n1"].list())
		require.Len(t, h.wards["n3"].list(), 50)
	})
}

func TestANodeThatDoesNotRememberTakesNoPart(t *testing.T) {
	inHospital(t, 1, func(t *testing.T, h *hospital) {
		read(t, h.regions["n1"].Ref("a"))
		h.Add("n2")
		r, err := sharding.Start(h.Node("n2"), "patients", newWard().patient, sharding.Shards(16))
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		_, err = tryRead(t, r.Ref("a"))
		require.ErrorIs(t, err, sharding.ErrMismatch)
		require.ErrorContains(t, err, "mode")
	})
}
