package sharding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/testkit"
)

func TestOptionsThatMakeNoSenseAreErrorsOfStart(t *testing.T) {
	s := testkit.NewSystem(t)
	for want, opt := range map[string]sharding.Option{
		"sharding: option 2 is nil":                nil,
		`sharding: Role("\x00"): the role `:        sharding.Role("\x00"),
		"sharding: WithLease got nil; ":            sharding.WithLease(nil),
		"sharding: WithStrategy got nil; ":         sharding.WithStrategy(nil),
		"sharding: 3 shards; give Shards a power ": sharding.Shards(3),
	} {
		_, err := sharding.Start(s, "notebook", func(sharding.Entity) actor.Behavior[note] { return behaviors.Empty[note] }, sharding.Buffer(1), opt)
		require.ErrorContains(t, err, want)
	}
}
