package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A show prints events with their times. It ignores errors of printing.
type show struct {
	mu  sync.Mutex // guards out
	out io.Writer
}

// at prints one line with a time of clock.
func (s *show) at(t time.Duration, format string, args ...any) {
	s.text("%8.2fs  %s", t.Seconds(), fmt.Sprintf(format, args...))
}

// text prints a line without one.
func (s *show) text(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
}
