package allot

import (
	"errors"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// stops are the requests to stop shards that have not been answered.
type stops struct {
	waiting map[*shard][]home.Token
	left    map[home.Token]int // shards that have not ended
}

// stop ends shards. Each starts again when it has ended, and the request is answered when all have.
func stop(s *shards, in StopShards) {
	all, err := numbered(s, in.Type, in.Shards)
	if err != nil {
		s.nodes.Reply(in.Token, nil, err)
		return
	}
	for _, sh := range all {
		switch sh.stage {
		case homeless: // after a failure it starts at once
			sh.failures, sh.retryAt = 0, time.Time{}
			s.nodes.Touch(sh.label)
			continue
		case starting, settled:
			s.move(sh, stopped)
		case leaving:
		}
		s.stops.wait(sh, in.Token)
	}
	if s.stops.left[in.Token] == 0 {
		s.nodes.Reply(in.Token, nil, nil)
	}
}

func (all *stops) wait(sh *shard, t home.Token) {
	if all.waiting == nil {
		all.waiting, all.left = map[*shard][]home.Token{}, map[home.Token]int{}
	}
	all.waiting[sh] = append(all.waiting[sh], t)
	all.left[t]++
}

// ended answers the requests of which the last shard has ended.
func (all *stops) ended(sh *shard, nodes *home.Nodes) {
	for _, t := range all.waiting[sh] {
		if _, waits := all.left[t]; !waits {
			continue // it has been answered with an error
		}
		if all.left[t]--; all.left[t] == 0 {
			delete(all.left, t)
			nodes.Reply(t, nil, nil)
		}
	}
	delete(all.waiting, sh)
}

// refused answers the requests for a shard that its node does not stop.
func (all *stops) refused(sh *shard, why string, nodes *home.Nodes) {
	for _, t := range all.waiting[sh] {
		if _, waits := all.left[t]; waits {
			delete(all.left, t)
			nodes.Reply(t, nil, errors.New("sharding: shard "+sh.label+" has not been stopped: "+why))
		}
	}
	delete(all.waiting, sh)
}
