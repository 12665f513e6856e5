package sharding_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// homes returns how many shards each node has, by what n2 knows.
func (s *shop) homes() map[string]int {
	names := map[string]string{}
	for _, n := range s.Nodes() {
		names[n.Address()] = n.View().Self.Name
	}
	all := map[string]int{}
	for _, of := range s.region("n2").Stats().Shards {
		all[names[of.Home]]++
	}
	return all
}

func TestTheNextCoordinatorDividesTheShardsOfItsFormerNode(t *testing.T) {
	effort.Unraced(t)
	for round := range 4 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			inShop(t, 3, func(t *testing.T, s *shop) {
				s.read("n1", "first") // which tells that entities are event-sourced
				time.Sleep(3*time.Minute + time.Duration(round)*1300*time.Millisecond)
				before := s.homes()
				s.Kill("n1")
				begun := time.Now()
				for s.homes()["n1"] > 0 || s.homes()["n2"]+s.homes()["n3"] < 16 {
					time.Sleep(10 * time.Millisecond)
				}
				require.Less(t, time.Since(begun), 4*time.Second, "%v before", before)
				require.Equal(t, map[string]int{"n2": 8, "n3": 8}, s.homes())
			})
		})
	}
}
