package singleton

import (
	"context"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/inspect"
)

// lookerOf lets the page of the node show what the instance has stored. The factory makes the
// behavior of one more actor for that, which ends before it handles anything.
func lookerOf(typed typedContext) inspect.Spawn {
	return func(under actor.Spawner, name string, with context.Context) actor.AnyRef {
		return typed.spawn(under, name, nil, []actor.SpawnOption{extension.WithContext(with)})
	}
}
