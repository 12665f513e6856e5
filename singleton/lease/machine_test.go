package lease

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the machine does into testdata/machine.txt")

// A moved event is one that comes at a certain time after the first.
type moved struct {
	at time.Duration
	ev any
}

var errTable = errors.New("no answer")

func ok(token uint64) evAnswer { return evAnswer{grant: Grant{Token: token}} }

func refusal(err error) evAnswer { return evAnswer{err: err} }

// ways lead to everything that a machine can be in the middle of, within the first second.
var ways = []struct {
	name string
	way  []moved
}{
	{"free", nil},
	{"taking", []moved{{0, evAcquire{1, 0}}}},
	{"taking, above 7", []moved{{0, evAcquire{1, 7}}}},
	{"taking, two wait", []moved{{0, evAcquire{1, 0}}, {0, evAcquire{2, 0}}}},
	{"taking, nobody waits any more", []moved{{0, evAcquire{1, 0}}, {0, evAbandon{1}}}},
	{"taking, the next one waits", []moved{{0, evAcquire{1, 0}}, {0, evAbandon{1}}, {0, evAcquire{2, 0}}}},
	{"taking, after a failure", []moved{{0, evAcquire{1, 0}}, {0, refusal(errTable)}}},
	{"taking, for the second time", []moved{{0, evAcquire{1, 0}}, {0, refusal(errTable)}, {time.Second, evWake{}}}},
	{"held", []moved{{0, evAcquire{1, 0}}, {0, ok(5)}}},
	{"held, after a failure", []moved{{-3 * time.Second, evAcquire{1, 0}}, {-3 * time.Second, ok(5)}, {0, evWake{}}, {0, refusal(errTable)}}},
	{"renewing", []moved{{-3 * time.Second, evAcquire{1, 0}}, {-3 * time.Second, ok(5)}, {0, evWake{}}}},
	{"renewing, and to be taken above 7", []moved{
		{-3 * time.Second, evAcquire{1, 0}}, {-3 * time.Second, ok(5)}, {0, evWake{}}, {0, evAcquire{2, 7}},
	}},
	{"lost", []moved{{-10 * time.Second, evAcquire{1, 0}}, {-10 * time.Second, ok(5)}, {0, evWake{}}}},
	{"lost, with a renewal under way", []moved{
		{-10 * time.Second, evAcquire{1, 0}}, {-10 * time.Second, ok(5)}, {-2 * time.Second, evWake{}}, {0, evWake{}},
	}},
	{"returning, a take under way", []moved{{0, evAcquire{1, 0}}, {0, evRelease{3}}}},
	{"returning, a renewal under way", []moved{
		{-3 * time.Second, evAcquire{1, 0}}, {-3 * time.Second, ok(5)}, {0, evWake{}}, {0, evRelease{3}},
	}},
	{"returning, a release under way", []moved{{0, evAcquire{1, 0}}, {0, ok(5)}, {0, evRelease{3}}}},
	{"returning, and to be taken again", []moved{{0, evAcquire{1, 0}}, {0, ok(5)}, {0, evRelease{3}}, {0, evAcquire{2, 0}}}},
	{"returning, after a failure", []moved{{0, evAcquire{1, 0}}, {0, ok(5)}, {0, evRelease{3}}, {0, refusal(errTable)}}},
	{"returning, nobody waits any more", []moved{
		{0, evAcquire{1, 0}}, {0, ok(5)}, {0, evRelease{3}}, {0, refusal(errTable)}, {time.Second, evWake{}}, {time.Second, refusal(errTable)},
	}},
	{"returning what may have been won", []moved{{0, evAcquire{1, 0}}, {0, evAbandon{1}}, {0, refusal(errTable)}}},
}

var tableEvents = []struct {
	name string
	moved
}{
	{"acquire 8", moved{time.Second, evAcquire{8, 0}}},
	{"acquire 8 above 7", moved{time.Second, evAcquire{8, 7}}},
	{"abandon 1", moved{time.Second, evAbandon{1}}},
	{"release 9", moved{time.Second, evRelease{9}}},
	{"answer: ok 6", moved{time.Second, ok(6)}},
	{"answer: ok 7", moved{time.Second, ok(7)}}, // not above 7
	{"answer: ok 8", moved{time.Second, ok(8)}},
	{"answer: ok 5", moved{time.Second, ok(5)}},
	{"answer: held", moved{time.Second, refusal(ErrHeld)}},
	{"answer: lost", moved{time.Second, refusal(ErrLost)}},
	{"answer: error", moved{time.Second, refusal(errTable)}},
	{"1 s later", moved{2 * time.Second, evWake{}}},
	{"3 s later", moved{4 * time.Second, evWake{}}},
	{"a minute later", moved{time.Minute, evWake{}}},
}

// Every event in everything that a machine can be in the middle of, with what it does:
// TTL 10 s, of which 9 s count, renewal 2.5 s, retry 0.667 s, operation timeout 3.333 s.
// A changed line is a changed decision.
func TestTheMachineDecidesAsWritten(t *testing.T) {
	var b strings.Builder
	for _, w := range ways {
		fmt.Fprintf(&b, "%s\n", w.name)
		for _, e := range tableEvents {
			m := newMachine(Claim{Name: "x", Holder: "h", TTL: 10 * time.Second}, Settings{TTL: 10 * time.Second}.withDefaults())
			for _, s := range w.way {
				m.step(instant(s.at), s.ev)
			}
			now := instant(e.at)
			out := m.step(now, e.ev)
			fmt.Fprintf(&b, "  %-18s %s\n", e.name, outcome(m, now, out))
		}
	}
	const file = "testdata/machine.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "go test ./singleton/lease -run Machine -update writes it anew")
}

func instant(at time.Duration) moment { return moment{steady: time.Hour + at, day: 2*time.Hour + at} }

func outcome(m *machine, now moment, out []any) string {
	var parts []string
	for _, ac := range out {
		parts = append(parts, describe(ac))
	}
	parts = append(parts, "-> "+m.state.String())
	if m.request.op != opNone {
		parts = append(parts, "with a "+m.request.op.String()+" under way")
	}
	if d := m.wake(now); d != never {
		parts = append(parts, "wake in "+d.Round(time.Millisecond).String())
	}
	return strings.Join(parts, ", ")
}

func describe(ac any) string {
	switch ac := ac.(type) {
	case acSend:
		if ac.op == opTake {
			return fmt.Sprintf("take above %d", ac.claim.Floor)
		}
		return fmt.Sprintf("%v %d", ac.op, ac.grant.Token)
	case acCancel:
		return "cancel"
	case acValid:
		return fmt.Sprintf("valid with %d", ac.token)
	case acInvalid:
		return "invalid"
	case acLost:
		return fmt.Sprintf("tell of the loss (%v)", ac.reason)
	case acAcquired:
		if ac.err != nil {
			return fmt.Sprintf("acquire %d: %v", ac.id, ac.err)
		}
		return fmt.Sprintf("acquire %d: %t", ac.id, ac.held)
	case acReleased:
		return fmt.Sprintf("release %d: %v", ac.id, ac.err)
	}
	return fmt.Sprintf("%T", ac)
}
