package workflow

import "context"

type stepKey struct{}

type stepOf struct {
	key   string
	scope string
	token uint64
}

// Key returns the idempotency key of the step to which ctx belongs: the type and the id of the
// run, and the name of the step, with "%", "~" and "#" escaped, and "/" in the type and the id. It
// is the same in all attempts, so a receiver that knows it has done the work already. [Type.Resume]
// may change it. It is "" outside of a step.
func Key(ctx context.Context) string {
	of, _ := ctx.Value(stepKey{}).(stepOf)
	return of.key
}

// Token returns the fencing token of the step to which ctx belongs. It rises each time that a
// process takes the run over. A receiver that keeps the highest token that it has seen of a run,
// see [Scope], and refuses lower ones, does nothing for a process that was replaced; package
// workflow/outside has such receivers. It is 0 outside of a step.
func Token(ctx context.Context) uint64 {
	of, _ := ctx.Value(stepKey{}).(stepOf)
	return of.token
}

// Scope returns what the [Token] of ctx can be compared within: the persistence id of the run. It
// is "" outside of a step.
func Scope(ctx context.Context) string {
	of, _ := ctx.Value(stepKey{}).(stepOf)
	return of.scope
}
