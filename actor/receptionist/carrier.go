package receptionist

import "github.com/understudy-go/understudy/actor"

// What receptionists say to each other is never a dead letter of the user: what is lost is
// found out and sent again.

// Carried is for [actor.System.DeadLetter].
func (wireChange) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [actor.System.DeadLetter].
func (wireRow) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [actor.System.DeadLetter].
func (wireCheck) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [actor.System.DeadLetter]. Who asks has an error.
func (wireQuery) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [actor.System.DeadLetter].
func (wireAnswer) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [actor.System.DeadLetter].
func (topologyChanged) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [actor.System.DeadLetter].
func (ticked) Carried(*actor.System) (string, any, bool) { return "", nil, false }
