package sharding

import "time"

// KeepAwake keeps the entity from passivating for d from now. Then [PassivateAfter] begins to
// count. A message of a timer does not keep an entity awake by itself: call KeepAwake in the
// handler of a timer that does.
//
//	case poll: // of ctx.Every("poll", time.Minute, poll{})
//		e.KeepAwake(2 * time.Minute)
//
// A later call takes the place of an earlier one; 0 ends it. [MaxEntities] does not end the entity
// meanwhile. The entity still ends when it stops itself, when it fails and when its shard moves;
// what starts then can be passivated again. Any goroutine may call KeepAwake. It does nothing for
// an Entity that was not given to a factory.
func (e Entity) KeepAwake(d time.Duration) {
	if e.at != nil {
		e.at.keepAwake(e.ID, d)
	}
}

func (r *residents) keepAwake(id string, d time.Duration) {
	r.lane.mu.Lock()
	defer r.lane.mu.Unlock()
	if e := r.all[escape(id)]; e != nil {
		e.timed, e.until = false, r.lane.region.now()+d
	}
}
