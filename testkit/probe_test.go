package testkit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit"
)

func TestAProbeReceivesWhatItIsToldInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		for n := range 100 {
			p.Ref().Tell(n)
		}
		for n := range 100 {
			require.Equal(t, n, p.Receive())
		}
		soon(p, 2*time.Second, 1)
		p.Expect(1)
	})
}

func TestAProbeGivesUpAfterThreeSeconds(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		for want, wait := range map[string]func(p *testkit.Probe[int]){
			"probe: no message within 3s":                           func(p *testkit.Probe[int]) { p.Receive() },
			"probe: no message within 3s, expected 1":               func(p *testkit.Probe[int]) { p.Expect(1) },
			"probe: no message within 3s, expected one of type int": func(p *testkit.Probe[int]) { testkit.ExpectType[int](p) },
		} {
			start := time.Now()
			complaint := failing(t, func(t testing.TB) { wait(testkit.NewProbe[int](t, s)) })
			require.Equal(t, want, complaint)
			require.Equal(t, 3*time.Second, time.Since(start), want)
		}
	})
}

func TestExpectComparesInDepth(t *testing.T) {
	type shelf struct {
		Books map[string][]int
		Ref   actor.ActorRef[int]
	}
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[*shelf](t, s)
		numbers := testkit.NewProbe[int](t, s).Ref()
		p.Ref().Tell(&shelf{map[string][]int{"a": {1, 2}}, numbers})
		p.Expect(&shelf{map[string][]int{"a": {1, 2}}, numbers})
		complaint := failing(t, func(t testing.TB) {
			p := testkit.NewProbe[[]int](t, s)
			p.Ref().Tell([]int{1, 2})
			p.Expect([]int{1, 3})
		})
		require.Equal(t, "probe: expected []int{1, 3}, got []int{1, 2}", complaint)
	})
}

func TestExpectNoneWaitsInVain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		soon(p, time.Hour, 1)
		p.ExpectNone(time.Hour - 1)
		p.Expect(1)
		complaint := failing(t, func(t testing.TB) {
			p := testkit.NewProbe[int](t, s)
			soon(p, time.Minute, 7)
			p.ExpectNone(time.Hour)
		})
		require.Equal(t, "probe: expected no message for 1h0m0s, got 7", complaint)
	})
}

func TestExpectTypeReturnsTheMessageAsThatType(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[any](t, s)
		p.Ref().Tell("a string")
		p.Ref().Tell(time.Second)
		require.Equal(t, "a string", testkit.ExpectType[string](p))
		require.Equal(t, "1s", testkit.ExpectType[fmt.Stringer](p).String())
		complaint := failing(t, func(t testing.TB) {
			p := testkit.NewProbe[any](t, s)
			p.Ref().Tell(1)
			testkit.ExpectType[string](p)
		})
		require.Equal(t, "probe: expected a message of type string, got 1", complaint)
	})
}

func TestExpectTerminatedTakesTheLivingAndTheDead(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		dead := testkit.NewProbe[int](t, s)
		dead.Stop()
		p.ExpectTerminated(dead.Ref())
		p.ExpectTerminated(dead.Ref())
		dying := testkit.NewProbe[int](t, s)
		time.AfterFunc(2*time.Second, dying.Stop)
		p.ExpectTerminated(dying.Ref())
		complaint := failing(t, func(t testing.TB) { testkit.NewProbe[int](t, s).ExpectTerminated(p.Ref()) })
		require.Equal(t, "probe: "+p.Ref().Path()+" has not terminated within 3s", complaint)
	})
}

func TestEverythingHasTerminatedInASystemThatWasShutDown(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		before := testkit.NewProbe[int](t, s)
		require.NoError(t, s.Shutdown(t.Context()))
		after := testkit.NewProbe[int](t, s)
		before.ExpectTerminated(after.Ref())
		after.ExpectTerminated(before.Ref())
		before.Stop()
		after.Stop()
	})
}

func TestAProbeThatWasStoppedStillHasWhatItWasTold(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		for n := range 10 {
			p.Ref().Tell(n)
		}
		p.Stop()
		p.Ref().Tell(10)
		for n := range 10 {
			p.Expect(n)
		}
		require.EqualValues(t, 1, s.DeadLetters())
		p.ExpectNone(time.Hour)
	})
}

func TestFishKeepsWhatItIsToldTo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		byValue := func(n int) testkit.Fishing {
			switch {
			case n < 0:
				return testkit.Fail
			case n%2 == 1:
				return testkit.Ignore
			case n == 6:
				return testkit.Complete
			}
			return testkit.Keep
		}
		p := testkit.NewProbe[int](t, s)
		for n := range 10 {
			soon(p, time.Duration(n)*2*time.Second, n)
		}
		require.Equal(t, []int{0, 2, 4, 6}, p.Fish(byValue))
		p.Expect(7)

		for want, numbers := range map[string][]int{
			"probe: fished -1, which must not come; kept so far: []int{2}": {1, 2, -1},
			"probe: fished in vain for 3s; kept so far: []int{2, 4}":       {1, 2, 3, 4},
			"probe: fished in vain for 3s; kept so far: []int(nil)":        nil,
		} {
			require.Equal(t, want, failing(t, func(t testing.TB) {
				p := testkit.NewProbe[int](t, s)
				for _, n := range numbers {
					p.Ref().Tell(n)
				}
				p.Fish(byValue)
			}))
		}
	})
}

func TestWithinBoundsAllThatIsDoneInside(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		soon(p, 5*time.Second, 1)
		soon(p, 10*time.Second, 2)
		p.Within(11*time.Second, func() { // also longer than the usual three seconds
			p.Expect(1)
			p.Expect(2)
		})
		soon(p, 2*time.Second, 3)
		p.Expect(3)
	})
}

func TestWithinFailsWhatTakesLonger(t *testing.T) {
	for _, test := range []struct {
		name string
		f    func(p *testkit.Probe[int])
		want string
	}{
		{"by waiting", func(p *testkit.Probe[int]) {
			p.Within(time.Second, func() { p.Receive() })
		}, "probe: no message within 1s"},
		{"by waiting together", func(p *testkit.Probe[int]) {
			soon(p, 600*time.Millisecond, 1)
			p.Within(time.Second, func() {
				p.Receive()
				p.Receive()
			})
		}, "probe: no message within 400ms"},
		{"by working", func(p *testkit.Probe[int]) {
			p.Within(time.Second, func() { time.Sleep(3 * time.Second) })
		}, "probe: took 2s longer than the 1s allowed"},
		{"nested, the earlier end counts", func(p *testkit.Probe[int]) {
			p.Within(time.Second, func() {
				p.Within(time.Minute, func() { p.Receive() })
			})
		}, "probe: no message within 1s"},
		{"afterwards the outer one counts again", func(p *testkit.Probe[int]) {
			p.Within(5*time.Second, func() {
				p.Within(time.Second, func() {})
				p.Receive()
			})
		}, "probe: no message within 5s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				require.Equal(t, test.want, failing(t, func(t testing.TB) { test.f(testkit.NewProbe[int](t, s)) }))
			})
		})
	}
}
