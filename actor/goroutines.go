package actor

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
)

// A group counts goroutines. Unlike a sync.WaitGroup it may grow while somebody waits for it.
type group struct {
	mu      sync.Mutex
	running int
	waiting []chan struct{}
}

func (g *group) Go(f func()) {
	g.mu.Lock()
	g.running++
	g.mu.Unlock()
	go func() {
		defer g.done()
		f()
	}()
}

func (g *group) done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	if g.running > 0 {
		return
	}
	for _, c := range g.waiting {
		close(c)
	}
	g.waiting = nil
}

func (g *group) idle() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := make(chan struct{})
	if g.running == 0 {
		close(c)
	} else {
		g.waiting = append(g.waiting, c)
	}
	return c
}

func (g *group) busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running > 0
}

// Only its stack trace has its number, which takes about a microsecond.
func goroutine() uint64 {
	var space [32]byte
	text := bytes.TrimPrefix(space[:runtime.Stack(space[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("actor: cannot tell goroutines apart by %q", text))
	}
	return n
}
