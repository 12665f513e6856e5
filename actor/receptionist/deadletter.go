package receptionist

import "github.com/understudy-go/understudy/actor"

// What receptionists say to each other is never a dead letter of the user: what is lost is
// found out and sent again.

// Carried is for [extension.DeadLetter].
func (wireChange) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireSnapshot) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireCheck) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter]. Who asks has an error.
func (wireQuery) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireAnswer) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (topologyChanged) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (ticked) Carried(*actor.System) (string, any, bool) { return "", nil, false }
