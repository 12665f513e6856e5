package actor

import (
	"sync"
	"time"
)

// A lineLimit lets the first things be logged, then none for a while, so that a flood of them
// does not become a flood of lines.
type lineLimit struct {
	mu      sync.Mutex // guards all below
	logged  int
	silence time.Time // until then nothing is logged
}

const (
	linesLogged = 10
	lineSilence = 5 * time.Minute
)

func (l *lineLimit) admit(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.silence) {
		return false
	}
	l.logged++
	if l.logged == linesLogged {
		l.logged, l.silence = 0, now.Add(lineSilence)
	}
	return true
}
