package sharding

// Passivate asks that the entity ends. It handles the messages that it has, then the [StopMessage],
// if there is one, and ends. What arrives meanwhile starts it again. If nothing does, a remembered
// entity is forgotten. Any goroutine may call Passivate. It does nothing for an Entity that was not
// given to a factory, as in a test of the behavior alone.
func (e Entity) Passivate() {
	if e.at != nil {
		e.at.passivate(e.ID)
	}
}

func (r *residents) passivate(id string) {
	r.lane.mu.Lock()
	defer r.lane.mu.Unlock()
	if e := r.all[escape(id)]; e != nil && e.ref != nil {
		e.asked = true
		r.hooks.asked()
		r.finish(e)
	}
}
