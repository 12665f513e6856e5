package receptionist

import "github.com/understudy-go/understudy/actor"

// Messages between receptionists do not become dead letters: a lost one is noticed and sent again.

func (wireChange) Carried(*actor.System) (string, any, bool) { return "", nil, false }

func (wireSnapshot) Carried(*actor.System) (string, any, bool) { return "", nil, false }

func (wireCheck) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// The caller of Lookup gets an error.
func (wireQuery) Carried(*actor.System) (string, any, bool) { return "", nil, false }

func (wireAnswer) Carried(*actor.System) (string, any, bool) { return "", nil, false }

func (topologyChanged) Carried(*actor.System) (string, any, bool) { return "", nil, false }

func (ticked) Carried(*actor.System) (string, any, bool) { return "", nil, false }
