package persistence_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/memory"
)

func TestWrongWiringPanicsWithAHint(t *testing.T) {
	type unregistered struct{}
	j := memory.New()
	add := func(n int, _ said) int { return n + 1 }
	command := func(*actor.Context[string], int, string) persistence.Effect[said] { return persistence.None }
	with := func(opts ...persistence.Option) func() {
		return func() { persistence.New("x", j, 0, add, command, opts...) }
	}
	for want, f := range map[string]func(){
		"the id is empty":                  func() { persistence.New("", j, 0, add, command) },
		"must not be nil":                  func() { persistence.New("x", nil, 0, add, command) },
		"event handler":                    func() { persistence.New("x", j, 0, nil, command) },
		"SnapshotEvery needs positive":     with(persistence.SnapshotEvery(0, 1)),
		"numbers":                          with(persistence.SnapshotEvery(1, 0)),
		"OnPersistFailure has a negative":  with(persistence.OnPersistFailure(actor.Backoff{Min: -1})),
		"timeouts must be positive":        with(persistence.PersistTimeout(0)),
		"must be positive":                 with(persistence.RecoveryTimeout(-time.Second)),
		"StashCapacity must be positive":   with(persistence.StashCapacity(0)),
		"PassivateAfter must be positive":  with(persistence.PassivateAfter(0)),
		"SnapshotWhen needs":               with(persistence.SnapshotWhen[int, said](nil, 1)),
		"a positive number":                with(persistence.SnapshotWhen(func(int, said, uint64) bool { return true }, 0)),
		"DeleteEvents needs SnapshotEvery": with(persistence.DeleteEvents()),
		"func(string) []string, while":     with(persistence.Tagged(func(string) []string { return nil })),
		"TaggedByState has a":              with(persistence.TaggedByState(func(string, said) []string { return nil })),
		"ToJournal has a":                  with(persistence.ToJournal(func(string) (any, int) { return nil, 0 })),
		"FromJournal has a":                with(persistence.FromJournal(persistence.Unchanged[string])),
		"SnapshotWhen has a":               with(persistence.SnapshotWhen(func(string, said, uint64) bool { return true }, 1)),
		"OnSignal has a": with(persistence.OnSignal(func(*actor.Context[int], int, persistence.Signal) persistence.Effect[said] {
			return nil
		})),
		"is not a SnapshotStore; leave the": func() {
			persistence.New("x", struct{ persistence.Journal }{j}, 0, add, command, persistence.SnapshotEvery(1, 1))
		},
		"event type persistence_test.unregistered is not registered": func() {
			persistence.New("x", j, 0, func(int, unregistered) int { return 0 },
				func(*actor.Context[string], int, string) persistence.Effect[unregistered] { return nil })
		},
		"SnapshotEvery: state type persistence_test.unregistered": func() {
			persistence.New("x", j, unregistered{}, func(s unregistered, _ said) unregistered { return s },
				func(*actor.Context[string], unregistered, string) persistence.Effect[said] { return nil },
				persistence.SnapshotEvery(1, 1))
		},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() { require.Contains(t, recover(), want) }()
			f()
		})
	}
}

func TestAStateNeedsNoRegistrationWithoutSnapshots(t *testing.T) {
	type unregistered struct{ context.Context }
	persistence.New("x", memory.New(), unregistered{}, func(s unregistered, _ said) unregistered { return s },
		func(*actor.Context[string], unregistered, string) persistence.Effect[said] { return nil })
}
