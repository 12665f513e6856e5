package cluster

import (
	"context"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/placementstatus"
	"github.com/understudy-go/understudy/internal/shardstatus"
)

type coordinatorLooks struct {
	placement coordinatorLook[placementstatus.Overview]
	homeless  coordinatorLook[[]shardstatus.Homeless]
}

func newCoordinatorLooks(s *actor.System) *coordinatorLooks {
	l := new(coordinatorLooks)
	l.placement.ask = func() func(context.Context) (placementstatus.Overview, error) {
		ask, _ := extension.Get[placementstatus.Source](s)
		return ask
	}
	l.homeless.ask = func() func(context.Context) ([]shardstatus.Homeless, error) {
		ask, sharded := extension.Get[shardstatus.Asker](s)
		if !sharded || !hasHomeless(shardTypes(s)) {
			return nil
		}
		return ask
	}
	return l
}

func shardTypes(s *actor.System) []shardstatus.Type {
	types, sharded := extension.Get[shardstatus.Source](s)
	if !sharded {
		return []shardstatus.Type{}
	}
	return types()
}

func hasHomeless(types []shardstatus.Type) bool {
	for _, t := range types {
		if t.Homeless > 0 && t.Refused == "" {
			return true
		}
	}
	return false
}
