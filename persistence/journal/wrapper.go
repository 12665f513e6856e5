package journal

// A Wrapper is a journal around another one. It implements [SnapshotStore] and [EventReader]
// whether or not the journal inside does; where that does not, its methods return
// [errors.ErrUnsupported].
type Wrapper interface {
	Journal

	// Unwrap returns the journal inside.
	Unwrap() Journal
}

// As returns j as a T, which is [SnapshotStore] or [EventReader]. It reports false unless j,
// and each journal inside it, see [Wrapper], implements T.
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
