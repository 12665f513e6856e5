package receptionist

import "github.com/understudy-go/understudy/actor"

// What receptionists say to each other is never a dead letter of the user: what is lost is
// found out and sent again.

// Carried implements [actor.Carrier].
func (wireChange) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireRow) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireCheck) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier]. Who asks has an error.
func (wireQuery) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireAnswer) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (topologyChanged) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (ticked) Carried(*actor.System) (string, any, bool) { return "", nil, false }
