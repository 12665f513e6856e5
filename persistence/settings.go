package persistence

import (
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// settings are those fields of [Options] that do not depend on the types of the actor.
type settings struct {
	SnapshotEvery    int
	KeepSnapshots    int
	PassivateAfter   time.Duration
	OnPersistFailure actor.Backoff
	PersistTimeout   time.Duration
	RecoveryTimeout  time.Duration
	StashCapacity    int

	DeleteEvents  bool
	signals       bool // the user handles signals
	maps          bool // ToJournal determines what is stored
	adapts        bool // FromJournal determines what is replayed
	snapshotsWhen bool // SnapshotWhen decides about snapshots
}

func settingsOf[M, E, S any](o *Options[M, E, S]) settings {
	return settings{
		SnapshotEvery: o.SnapshotEvery, KeepSnapshots: o.KeepSnapshots, DeleteEvents: o.DeleteEvents,
		PassivateAfter: o.PassivateAfter, OnPersistFailure: o.OnPersistFailure,
		PersistTimeout: o.PersistTimeout, RecoveryTimeout: o.RecoveryTimeout, StashCapacity: o.StashCapacity,
		signals: o.OnSignal != nil, maps: o.ToJournal != nil, adapts: o.FromJournal != nil, snapshotsWhen: o.SnapshotWhen != nil,
	}
}

func completed(s settings) (settings, error) {
	if err := s.validate(); err != nil {
		return s, err
	}
	if s.OnPersistFailure == (actor.Backoff{}) {
		s.OnPersistFailure = actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second, Jitter: 0.2}
	}
	setDefault(&s.PersistTimeout, 30*time.Second)
	setDefault(&s.RecoveryTimeout, 30*time.Second)
	setDefault(&s.StashCapacity, 4096)
	setDefault(&s.KeepSnapshots, 2)
	return s, nil
}

func setDefault[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

func (s *settings) validate() error {
	switch {
	case s.SnapshotEvery < 0 || s.KeepSnapshots < 0:
		return errors.New("SnapshotEvery and KeepSnapshots must not be negative")
	case s.DeleteEvents && !s.snapshots():
		return errors.New("DeleteEvents needs SnapshotEvery or SnapshotWhen")
	case s.PassivateAfter < 0:
		return errors.New("PassivateAfter must not be negative")
	case s.OnPersistFailure.Max < 0 || s.OnPersistFailure.Jitter < 0:
		return fmt.Errorf("OnPersistFailure has a negative setting: %+v", s.OnPersistFailure)
	case s.PersistTimeout < 0 || s.RecoveryTimeout < 0:
		return errors.New("timeouts must not be negative")
	case s.StashCapacity < 0:
		return errors.New("StashCapacity must not be negative")
	}
	return nil
}

func (s *settings) snapshots() bool { return s.SnapshotEvery > 0 || s.snapshotsWhen }
