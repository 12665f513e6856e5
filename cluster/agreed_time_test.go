package cluster

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"
)

func TestTheAgreedTimeIsTheOneThatMoreThanHalfHaveReached(t *testing.T) {
	for _, c := range []struct {
		ahead []time.Duration
		want  time.Duration
	}{
		{[]time.Duration{0}, 0},
		{[]time.Duration{0, time.Hour}, 0},
		{[]time.Duration{0, -time.Hour}, -time.Hour},
		{[]time.Duration{0, time.Hour, time.Second}, time.Second},
		{[]time.Duration{0, -time.Hour, -time.Second}, -time.Second},
		{[]time.Duration{0, time.Hour, time.Hour, time.Second}, time.Second},
		{[]time.Duration{0, time.Hour, time.Hour, time.Second, -time.Hour}, time.Second},
	} {
		told := map[remote.NodeID]time.Duration{}
		for i, by := range c.ahead {
			told[remote.NodeID{Incarnation: uint64(i)}] = by
		}
		require.Equal(t, c.want, atLeast(told), "%v", c.ahead)
	}
}
