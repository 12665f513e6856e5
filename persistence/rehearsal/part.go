package rehearsal

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/persistence"
)

// A Part is some of the event-sourced actors and durable states of a program. [Of] returns one.
type Part struct {
	name    string
	same    map[string]string
	message string
	run     func(ctx context.Context, s *actor.System, q inspect.Query, id string, j persistence.Journal) (inspect.Found, error)
}

// Of returns the part of the actors whose persistence ids are ids, or begin with ids and a "|", as
// those of the entities of a type. An ids that ends with "*" stands for all that begin with what is
// before it.
//
// behavior returns the behavior of the actor with an id. It must keep its events in j, and may be
// what package behavior makes of one that does: a singleton, a supervised one. It is called in one
// goroutine, for each id at least once. Of panics if ids is empty or behavior is nil.
func Of[M any](ids string, behavior func(id string, j persistence.Journal) actor.Behavior[M]) Part {
	if ids == "" || behavior == nil {
		panic("rehearsal: Of needs persistence ids, such as \"cart\", and a function that returns their behavior")
	}
	return Part{name: ids, run: func(ctx context.Context, s *actor.System, q inspect.Query, id string, j persistence.Journal) (inspect.Found, error) {
		var failure error
		found, err := inspect.Run(ctx, s, q, func(under actor.Spawner, name string, with context.Context) actor.AnyRef {
			return actor.Spawn(under, func(ctx *actor.Context[M], next *actor.Next[M]) {
				if failure = guard.Run(func() error { behavior(id, j)(ctx, next); return nil }); failure != nil {
					failure = fmt.Errorf("the behavior of %q cannot be made: %w", id, failure)
				}
				next.Stop()
			}, name, extension.WithContext(with))
		})
		if failure != nil {
			return found, failure
		}
		return found, err
	}, message: codec.TypeName(reflect.TypeFor[M]())}
}

// With returns the part with settings of its actors that all nodes must have alike in a rolling
// restart, by their names. Those of a singleton are known without it; those of a sharded type are
// what sharding.Compared returns.
func (p Part) With(settings map[string]string) Part {
	all := maps.Clone(p.same)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, settings)
	p.same = all
	return p
}

// Settings returns a part that has no persistence ids, only settings that all nodes must have alike
// in a rolling restart, by their names. For a schedule they are what cron.Compared returns. name is
// for the report. Settings panics if name or settings are empty.
func Settings(name string, settings map[string]string) Part {
	if name == "" || len(settings) == 0 {
		panic("rehearsal: Settings needs a name for the report and settings, such as those of cron.Compared")
	}
	return Part{name: name, same: maps.Clone(settings)}
}

func (p *Part) has(id string) bool {
	if p.run == nil {
		return false
	}
	if begin, ok := strings.CutSuffix(p.name, "*"); ok {
		return strings.HasPrefix(id, begin)
	}
	rest, ok := strings.CutPrefix(id, p.name)
	return ok && (rest == "" || rest[0] == '|')
}

// find returns the part of an id, or nil.
func find(parts []Part, id string) *Part {
	for i := range parts {
		if parts[i].has(id) {
			return &parts[i]
		}
	}
	return nil
}
