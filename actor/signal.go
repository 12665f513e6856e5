package actor

// A Signal informs an actor about its own life or the life of another actor. It is [PostStop],
// [PreRestart], [Terminated], [ChildFailed] or [AdaptFailed].
//
//sumtype:decl
type Signal interface{ signal() }

type (
	// PostStop is the last signal of an actor. Its children have ended, and its context is done;
	// its watchers do not know yet.
	PostStop struct{}

	// PreRestart informs the behavior that failed that it is about to be replaced. Err is the
	// failure.
	PreRestart struct{ Err error }

	// Terminated informs a watcher that the actor behind Ref has ended. Ref is the value that was
	// given to Watch. It arrives after all messages that the actor sent to the watcher, except in a
	// [Prioritized] mailbox.
	Terminated struct{ Ref AnyRef }

	// ChildFailed replaces [Terminated] for a parent that watches a child when the child ended
	// by a failure, Err.
	ChildFailed struct {
		Ref AnyRef
		Err error
	}

	// AdaptFailed informs an actor that the function given to [Adapt] panicked on Message, which
	// is lost. Err is a [*PanicError]. An actor that does not handle the signal fails with it.
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
