package cron

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/inspect"
)

// Compared returns the settings of a schedule that all nodes must have alike, by their names. They
// are settings of its singleton. Compared is for rehearsal.Settings, so that the rehearsal of an
// upgrade finds a change that a rolling restart refuses. Jobs and entries may differ. It panics if
// a setting makes no sense; [Start] returns an error then.
func Compared(cfg Config) map[string]string {
	cfg, err := cfg.withDefaults()
	if err != nil {
		panic(fmt.Errorf("cron: %w", err))
	}
	ctx, s := context.Background(), actor.NewSystem("compared")
	defer s.Shutdown(ctx) //nolint:errcheck // nothing runs in it any more
	found, _ := inspect.Run(ctx, s, inspect.Query{}, func(under actor.Spawner, name string, with context.Context) actor.AnyRef {
		return actor.Spawn(under, behaviors.Singleton(stopped, cfg.options()...), name, extension.WithContext(with))
	}) // nothing is stored
	return found.Compared
}

func stopped() actor.Behavior[command] { return behaviors.Stopped[command] }
