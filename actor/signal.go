package actor

// A Signal tells an actor about its life or that of another: [PostStop], [PreRestart],
// [Terminated], [ChildFailed] or [AdaptFailed].
//
//sumtype:decl
type Signal interface{ signal() }

type (
	// PostStop is the last thing an actor is told: its children have ended, its watchers
	// do not know yet. The actor's context is done by then.
	PostStop struct{}

	// PreRestart tells the behavior that failed that another takes its place.
	PreRestart struct{ Err error }

	// Terminated tells a watcher that the actor behind Ref has ended. Ref is the value
	// that was given to Watch. It comes after all that the actor told the watcher.
	Terminated struct{ Ref AnyRef }

	// ChildFailed is what a parent that watches its child is told instead of
	// [Terminated] when the child ended by a failure.
	ChildFailed struct {
		Ref AnyRef
		Err error
	}

	// AdaptFailed tells an actor that the function given to [Adapt] has failed at Message,
	// which is gone. Err is a [*PanicError]. Who does not handle the signal fails with it.
	AdaptFailed struct {
		Message any
		Err     error
	}
)

func (PostStop) signal()    {}
func (PreRestart) signal()  {}
func (Terminated) signal()  {}
func (ChildFailed) signal() {}
func (AdaptFailed) signal() {}
