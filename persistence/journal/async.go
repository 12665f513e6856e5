package journal

// An AsyncJournal is a journal whose appends need no goroutine that waits for them. Actors use it
// if a journal implements it.
type AsyncJournal interface {
	Journal

	// AppendAsync is Append for one request, but does not wait: it calls done with the result,
	// once, from any goroutine, perhaps before it returns. done never blocks. The Call that it
	// returns gives the append up, in place of a context; it is nil if done has been called.
	AppendAsync(req AppendRequest, done func(err error)) Call
}

// A Call is an append that has begun.
type Call interface {
	// Cancel ends the append as the end of its context ends [Journal.Append]: unless done has been
	// called, it is called soon with [ErrUnavailable] or [ErrUnknown], wrapped with cause. It may
	// be called from any goroutine, and never blocks.
	Cancel(cause error)
}
