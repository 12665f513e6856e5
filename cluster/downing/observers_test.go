package downing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// On a ring a link can break only where there was one: 1 observes 2, 2 observes 3, and so on. 3
// and 4 are dead. Only 2 has noticed the death of 3, and only 3 observed 4.
func TestWhoIsHeardOnlyByTheLostIsLost(t *testing.T) {
	s := Situation{Stable: time.Hour}
	for i, address := range []string{"1", "2", "3", "4", "5"} {
		s.Members = append(s.Members, Member{
			Address:    address,
			UpNumber:   uint64(i + 1),
			Self:       address == "1",
			ObservedBy: []string{string(rune('0' + (i+4)%5 + 1))},
		})
	}
	s.Members[2].UnreachableBy = []string{"2"}
	s.Members[4].ObservedBy = []string{"4", "1"}
	here, there := s.Split()
	require.Equal(t, []string{"1", "2", "5"}, addresses(here))
	require.Equal(t, []string{"3", "4"}, addresses(there))
	require.Equal(t, []string{"3", "4"}, addresses(KeepMajority{}.Decide(s).Down))
}

func addresses(members []Member) []string {
	var all []string
	for _, m := range members {
		all = append(all, m.Address)
	}
	return all
}
