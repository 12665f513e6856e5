package persistence

import "github.com/understudy-go/understudy/actor"

func init() {
	for name, err := range map[string]error{
		"understudy/fenced":                  ErrFenced,
		"understudy/persistence.conflict":    ErrConflict,
		"understudy/persistence.too-large":   ErrTooLarge,
		"understudy/persistence.invalid":     ErrInvalid,
		"understudy/persistence.corrupt":     ErrCorrupt,
		"understudy/persistence.unavailable": ErrUnavailable,
		"understudy/persistence.full":        ErrFull,
		"understudy/persistence.unknown":     ErrUnknown,
		"understudy/persistence.closed":      ErrClosed,
	} {
		actor.RegisterError(name, err)
	}
}
