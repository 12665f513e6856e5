package remote

import (
	"errors"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// lending lets the goroutine that reads a connection run the actor that the last messages have
// woken, before it reads again. If that takes long, another goroutine continues to read. The zero
// value never lends. The reading goroutine owns it.
type lending struct {
	replace func()         // starts the other goroutine; nil if the reading goroutine must not lend itself
	open    bool           // nothing else is to be done now
	run     actorhook.Lent // to be called, or nil
}

// errReplaced is returned by a goroutine that does not read any more, because another one does.
var errReplaced = errors.New("remote: another goroutine reads")

// offer implements [actorhook.Dispatcher] for the receiver.
func (l *lending) offer(run actorhook.Lent) (taken bool) {
	if l.replace == nil || !l.open || l.run != nil {
		return false
	}
	l.run = run
	return true
}

// settleAndLend settles, and runs the actor that this has woken. It reports whether the goroutine
// has been replaced; then nothing of in belongs to it.
func (in *inbound) settleAndLend() (replaced bool) {
	l := &in.lending
	l.open = true
	in.settle()
	run := l.run
	l.open, l.run = false, nil
	return run != nil && run(l.replace)
}
