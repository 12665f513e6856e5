package persistence

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// WithJournal gives a system without a cluster the journal in which sharding and cron keep what
// they know. A node has cluster.Config.Journal instead. The caller closes j, after the system has
// stopped. By default, or if j is nil, the system has no journal; see [ErrNoJournal].
//
// Event-sourced actors have the journal that they are given, which may be the same one.
func WithJournal(j Journal) actor.Option {
	return func(s *actor.System) {
		if j != nil {
			extension.Set(s, j)
		}
	}
}
