package journal

// A Wrapper is a journal around another one. It always implements [SnapshotStore], [EventReader]
// and [TimerStore]. If the inner journal does not implement one of them, its methods return
// [errors.ErrUnsupported].
type Wrapper interface {
	Journal

	// Unwrap returns the inner journal.
	Unwrap() Journal
}

// As returns j as a T, which is [SnapshotStore], [EventReader] or [TimerStore]. It reports false
// unless j and each inner journal implement T; see [Wrapper].
func As[T any](j Journal) (_ T, ok bool) {
	t, ok := j.(T)
	if w, wraps := j.(Wrapper); ok && wraps {
		_, ok = As[T](w.Unwrap())
	}
	if !ok {
		return *new(T), false
	}
	return t, true
}
