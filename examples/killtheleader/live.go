package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A live shows what happens while it happens: a line for each event, and how the numbers run. On a
// terminal the last line is rewritten each half second; elsewhere it is printed every five seconds.
type live struct {
	out   io.Writer
	tty   bool
	start time.Time

	mu   sync.Mutex // guards out, and what follows
	name string     // of the opponent
}

func newLive(out *os.File) *live {
	info, err := out.Stat()
	return &live{out: out, tty: err == nil && info.Mode()&os.ModeCharDevice != 0, start: time.Now()}
}

// event prints what has happened.
func (l *live) event(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line("\n", fmt.Sprintf(format, args...))
}

// text prints a line about no moment.
func (l *live) text(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	_, _ = fmt.Fprintf(l.out, format+"\n", args...)
}

func (l *live) line(end, text string) {
	l.clear()
	_, _ = fmt.Fprintf(l.out, "%6.1fs  %-16s  %s%s", time.Since(l.start).Seconds(), l.name, text, end)
}

func (l *live) clear() {
	if l.tty {
		_, _ = fmt.Fprint(l.out, "\r\033[K")
	}
}

// watch shows how the numbers of a trial run, until ctx ends.
func (l *live) watch(ctx context.Context, t *trial) {
	l.mu.Lock()
	l.name = t.name
	l.mu.Unlock()
	period := 5 * time.Second
	if l.tty {
		period = 500 * time.Millisecond
	}
	before := 0
	for pause(ctx, period); ctx.Err() == nil; pause(ctx, period) {
		f := t.client.figures()
		l.status(t, f, float64(f.acked-before)/period.Seconds())
		before = f.acked
	}
}

func (l *live) status(t *trial, f figures, rate float64) {
	silence := time.Since(t.began) - f.last.acked
	l.mu.Lock()
	defer l.mu.Unlock()
	end := "\n"
	if l.tty {
		end = ""
	}
	l.line(end, fmt.Sprintf("leader %-10s number %6d  %4.0f/s  last %5.1fs ago  refused %d", f.last.Leader, f.last.Number, rate, silence.Seconds(), t.refused.Load()))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
