package generationtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/singleton/generation"
)

// claiming is set in the processes that Killed kills, to what where has returned.
const claiming = "GENERATIONTEST_CLAIMING"

const kills = 5

// Killed checks that a process killed at any moment leaves the state before or after its last
// operation, never a mix, that no grant is lost, and that no term is handed out again. Processes
// put specs and claim terms as fast as they can, and are killed one after the other.
//
// Each process runs the test binary again, for the top-level test t only, up to the call of Killed.
// Only the first process calls where, which makes the store and returns how to reach it. Each
// process calls open with that.
func Killed(t *testing.T, where func() string, open func(t *testing.T, where string) generation.Source) {
	at, isWriter := os.LookupEnv(claiming)
	if isWriter {
		claimForEver(t, open(t, at))
	}
	at = where()
	e := &env{t, Backend{Open: func(t *testing.T) generation.Source { return open(t, at) }}}
	label := t.Name()
	var before progress
	acknowledged := 0
	for range kills {
		w := startWriter(t, at)
		acked := w.killed(before)
		acknowledged += acked.n

		s := e.open() // after each death, as a program that is started again
		found := progressOf(e, s, label)
		require.Contains(t, []int{acked.n, acked.n + 1}, found.n, "it was granted or was about to be: %+v, %+v", acked, found)
		require.Equal(t, acked.term+uint64(found.n-acked.n), found.term, "terms have no gap and none is lost")
		require.Contains(t, []int{acked.spec, acked.spec + 1}, found.spec)
		before = progress{term: s.term(label, "0").Term}
		require.Contains(t, []uint64{found.term + 1, found.term + 2}, before.term, "a server may have done the last of it after the death")
		s.put(label, specOf(0))
	}
	t.Logf("%d processes were killed, after %d terms", kills, acknowledged)
}

// claim is also the name of the owner.
type progress struct {
	n    int
	term uint64
	spec int
}

func progressOf(e *env, s *source, label string) (p progress) {
	o := s.owner(label)
	p.term = o.Generation.Term
	n, err := strconv.Atoi(o.Owner)
	require.NoError(e, err)
	p.n = n
	if spec, ok := s.kept(label)[label]; ok {
		number, _, _ := strings.Cut(spec, " ")
		p.spec, err = strconv.Atoi(number)
		require.NoError(e, err)
		require.Equal(e, specOf(p.spec), spec, "half a spec")
	}
	return p
}

// Each of its pages shows to which spec it belongs.
func specOf(n int) string { return strings.Repeat(strconv.Itoa(n)+" ", 5000) }

// claimForEver ends when standard input is closed.
func claimForEver(t *testing.T, s generation.Source) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // this process ends with its parent
		os.Exit(1)
	}()
	for n := 1; ; n++ {
		require.NoError(t, s.PutSpec(context.Background(), t.Name(), []byte(specOf(n))))
		fmt.Println("spec", n)
		g, err := s.ClaimTerm(context.Background(), t.Name(), strconv.Itoa(n), 0)
		require.NoError(t, err)
		fmt.Println("term", g.Term)
	}
}

type writer struct {
	t       *testing.T
	process *process.Process
}

func startWriter(t *testing.T, at string) *writer {
	t.Helper()
	p, err := process.Start(process.Self([]string{claiming + "=" + at}, "-test.run=^"+t.Name()+"$", "-test.timeout=5m"))
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	return &writer{t, p}
}

// The moment is random. The result is how far the process has said to have come.
func (w *writer) killed(from progress) progress {
	w.t.Helper()
	for from.n < 3 {
		line, ok := w.process.Line()
		require.True(w.t, ok, "the process has ended by itself")
		w.note(line, &from)
	}
	time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond) // the moment
	require.NoError(w.t, w.process.Signal(os.Kill))
	for _, line := range w.process.Rest() {
		w.note(line, &from)
	}
	_ = w.process.Wait() // it was killed
	return from
}

func (w *writer) note(line string, p *progress) {
	w.t.Helper()
	var what string
	var number uint64
	_, err := fmt.Sscan(line, &what, &number)
	require.NoError(w.t, err, "the process says: %s", line)
	switch what {
	case "spec":
		p.spec = int(number)
	case "term":
		p.n++
		require.Greater(w.t, number, p.term, "a later claim gets a higher term")
		p.term = number
	default:
		w.t.Fatalf("the process says: %s", line)
	}
}
