package receptionist

import "github.com/understudy-go/understudy/actor"

// Messages between receptionists do not become dead letters: a lost one is noticed and sent again.

// Carried is for [extension.DeadLetter].
func (wireChange) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireSnapshot) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireCheck) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter]. The caller of Lookup gets an error.
func (wireQuery) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireAnswer) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (topologyChanged) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (ticked) Carried(*actor.System) (string, any, bool) { return "", nil, false }
