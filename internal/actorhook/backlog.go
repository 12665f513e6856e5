package actorhook

import "time"

// Limits beyond which an actor is behind.
const (
	// BacklogLimit is how many messages wait for an actor that is behind.
	BacklogLimit = 1000
	// AgeLimit is how long a request has waited that an actor should have handled. For requests
	// whose asks wait longer than four times as long, it is a quarter of that time: actors refuse
	// requests that have waited longer, if that goes on.
	AgeLimit = time.Second
	// RecentlyDropped is for how long an actor that has dropped a message counts as behind.
	RecentlyDropped = 10 * time.Second
	// MostBehind is how many actors a list has that are behind.
	MostBehind = 10
)

// Backlogs are the messages that wait for actors.
type Backlogs struct {
	Kinds  map[string]Backlog // of kinds for which any wait
	Actors []ActorBacklog     // those that are most behind, first; at most MostBehind
}

// A Backlog is what waits for some actors.
type Backlog struct {
	Waiting int           // messages
	Oldest  time.Duration // the age of the oldest request that waits or is being handled; 0 without one whose ask has an end
}

// An ActorBacklog is what waits for one actor.
type ActorBacklog struct {
	Path, Kind string
	Backlog
	Within       time.Duration     // how long the ask of the oldest request waits in all
	Dropped      map[string]uint64 // messages that have become dead letters, by reason
	Dropping     bool              // some have lately
	SinceDropped time.Duration     // the last one
}

// AgeLimit returns how long its oldest request has waited when the actor is behind.
func (b *ActorBacklog) AgeLimit() time.Duration { return max(AgeLimit, b.Within/4) }

// Excess returns how far the actor is behind: 1 is the limit, and 0 an actor with nothing to do.
func (b *ActorBacklog) Excess() float64 {
	excess := max(float64(b.Waiting)/BacklogLimit, float64(b.Oldest)/float64(b.AgeLimit()))
	if b.Dropping {
		return excess + 1
	}
	return excess
}
