package home

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/singleton"
)

func TestFactsAndLedgersOfAllVersionsAreRead(t *testing.T) {
	whole := Record{
		Spec: []byte{0xa1, 0x61, 'n', 7}, Ended: true,
		Node: "node-1", Address: "10.0.0.1:7946", Incarnation: 4, Request: RequestID{Epoch: 1 << 32, N: 9},
		Generation: singleton.Generation{Term: 3, Seq: 1}, Lease: 5,
		Owner: "node-2", Granted: singleton.Generation{Term: 4}, Pin: "node-3",
		Until: time.Date(2026, 11, 25, 12, 30, 0, 5, time.UTC), Drained: true,
	}
	golden.Values(t,
		Fact{Key: "spec/disk-1", Record: &whole},
		Ledger{
			Records: map[string]Record{"spec/disk-1": whole},
			News:    []Fact{{Key: "singleton/one", Record: &Record{Granted: singleton.Generation{Term: 5}, Ended: true}}, {Key: "spec/gone"}},
		},
	)
}

// put gives the records what is drawn for a key.
func put(rng *rand.Rand, r *records, n int) {
	key := fmt.Sprint(rng.IntN(150))
	was, known := r.Record(key)
	switch p := rng.IntN(10); {
	case p == 0:
		r.Put(key, nil)
	case p == 1:
		r.Put(key, &Record{Ended: true, Granted: singleton.Generation{Term: uint64(n)}})
	case !known || p == 2:
		r.Put(key, &Record{Spec: fmt.Append(nil, n), Node: "a"})
	default:
		was.Ended, was.Node = false, fmt.Sprint(n%7)
		r.Put(key, &was)
	}
}

func TestTheLedgerIsWhatTheFactsSay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l Ledger
	r := records{all: map[string]Record{}}
	for n := range 5000 {
		put(rng, &r, n)
		for _, f := range r.Facts() {
			if f.Record != nil && len(f.Record.Spec) > 0 {
				require.NotEqual(t, l.All()[f.Key].Spec, f.Record.Spec, "it is stored already")
			}
			l = l.With(f)
			if rng.IntN(10) == 0 {
				l = l.With(f) // once more
			}
		}
		if n%500 != 0 {
			continue
		}
		var next records
		next.Recall(l)
		require.Equal(t, r.all, next.all)
	}
}

func TestAFactWithASpecCanBeUndone(t *testing.T) {
	r := records{all: map[string]Record{}}
	r.Put("a", &Record{Spec: []byte{1}, Node: "n"})
	require.Nil(t, r.Undo("a"))
	require.Empty(t, r.Keys())
	r.Put("a", &Record{Spec: []byte{2}, Node: "n"})
	r.Put("a", &Record{Spec: []byte{2}, Node: "m"})
	require.Len(t, r.Facts(), 3)
	r.Put("a", &Record{Spec: []byte{2}, Node: "m"})
	require.Empty(t, r.Facts(), "nothing is new")
	r.Put("a", &Record{Spec: []byte{3}, Node: "k"})
	require.Equal(t, &Record{Spec: []byte{2}, Node: "m"}, r.Undo("a"))
	now, _ := r.Record("a")
	require.Equal(t, "m", now.Node)
}
