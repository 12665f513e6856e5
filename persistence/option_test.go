package persistence_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestWrongWiringPanicsWithAHint(t *testing.T) {
	type unregistered struct{}
	j := journal.NewMemory()
	add := func(n int, _ said) int { return n + 1 }
	command := func(*actor.Context[string], int, string) persistence.Effect[said] { return persistence.None }
	type counting = persistence.Options[string, said, int]
	with := func(opts ...counting) func() {
		all := make([]persistence.Option, len(opts))
		for i, o := range opts {
			all[i] = o
		}
		return func() { persistence.New("x", j, 0, add, command, all...) }
	}
	for want, f := range map[string]func(){
		"the id is empty":                    func() { persistence.New("", j, 0, add, command) },
		"the journal is nil; open one":       func() { persistence.New("x", nil, 0, add, command) },
		"event handler":                      func() { persistence.New("x", j, 0, nil, command) },
		"SnapshotEvery and KeepSnapshots":    with(counting{SnapshotEvery: -1}),
		"must not be negative":               with(counting{KeepSnapshots: -1}),
		"OnPersistFailure has a negative":    with(counting{OnPersistFailure: actor.Backoff{Max: -1}}),
		"timeouts must not be negative":      with(counting{PersistTimeout: -1}),
		"timeouts must":                      with(counting{RecoveryTimeout: -time.Second}),
		"StashCapacity must not be negative": with(counting{StashCapacity: -1}),
		"PassivateAfter must not":            with(counting{PassivateAfter: -1}),
		"DeleteEvents needs SnapshotEvery":   with(counting{DeleteEvents: true}),
		"the option is a persistence.Options[int,": func() {
			persistence.New("x", j, 0, add, command, persistence.Options[int, said, int]{})
		},
		"there are 2 Options": with(counting{}, counting{}),
		"is not a SnapshotStore; leave the": func() {
			persistence.New("x", struct{ persistence.Journal }{j}, 0, add, command, counting{SnapshotEvery: 1})
		},
		"event type persistence_test.unregistered is not registered": func() {
			persistence.New("x", j, 0, func(int, unregistered) int { return 0 },
				func(*actor.Context[string], int, string) persistence.Effect[unregistered] { return nil })
		},
		"SnapshotEvery: state type persistence_test.unregistered": func() {
			persistence.New("x", j, unregistered{}, func(s unregistered, _ said) unregistered { return s },
				func(*actor.Context[string], unregistered, string) persistence.Effect[said] { return nil },
				persistence.Options[string, said, unregistered]{SnapshotEvery: 1})
		},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() { require.Contains(t, recover(), want) }()
			f()
		})
	}
}

func TestSnapshotEveryIsTheFieldsOfOptions(t *testing.T) {
	require.PanicsWithValue(t, `persistence: event-sourced behavior "x": SnapshotEvery and KeepSnapshots must not be negative`, func() {
		persistence.New("x", journal.NewMemory(), 0, func(n int, _ said) int { return n },
			func(*actor.Context[string], int, string) persistence.Effect[said] { return persistence.None }, persistence.SnapshotEvery(-1, 2))
	})
}

func TestAStateNeedsNoRegistrationWithoutSnapshots(t *testing.T) {
	type unregistered struct{ context.Context }
	persistence.New("x", journal.NewMemory(), unregistered{}, func(s unregistered, _ said) unregistered { return s },
		func(*actor.Context[string], unregistered, string) persistence.Effect[said] { return nil })
}
