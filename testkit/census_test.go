package testkit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit"
)

// mortal stops at true, panics at false.
func mortal() actor.Behavior[bool] {
	return func(_ *actor.Context[bool], next *actor.Next[bool]) {
		next.OnMessage = func(_ *actor.Context[bool], peacefully bool) actor.Behavior[bool] {
			if !peacefully {
				panic("boom")
			}
			return func(_ *actor.Context[bool], next *actor.Next[bool]) { next.Stop() }
		}
	}
}

func supervised(b actor.Behavior[bool]) actor.Behavior[bool] {
	return func(_ *actor.Context[bool], next *actor.Next[bool]) { next.Supervise(b, actor.Strategy{}) }
}

func TestACensusCountsTheLiving(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		census := testkit.NewCensus(t)
		factory := testkit.Counted(census, mortal)
		start := time.Now()
		a := actor.Spawn(s, factory(), "a")
		synctest.Wait()
		b := actor.Spawn(s, factory(), "b")
		time.Sleep(time.Second)
		require.Equal(t, 2, census.Running())
		a.Tell(true)
		synctest.Wait()
		b.Tell(false) // a failure ends it as well
		synctest.Wait()
		require.Equal(t, 0, census.Running())
		require.Equal(t, 2, census.Peak())
		require.Equal(t, 2, census.Started())
		require.Equal(t, []testkit.CensusEvent{
			{Time: start, Path: a.Path(), Started: true, Running: 1},
			{Time: start, Path: b.Path(), Started: true, Running: 2},
			{Time: start.Add(time.Second), Path: a.Path(), Running: 1},
			{Time: start.Add(time.Second), Path: b.Path(), Running: 0},
		}, census.Timeline())
		require.Equal(t, ""+
			"00:00:00.000  started  understudy://test/user/a  (1 running)\n"+
			"00:00:00.000  started  understudy://test/user/b  (2 running)\n"+
			"00:00:01.000  ended    understudy://test/user/a  (1 running)\n"+
			"00:00:01.000  ended    understudy://test/user/b  (0 running)\n", census.String())
	})
}

func TestRestartsInsideAnInstanceDoNotEndItRestartsAroundItDo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		for name, test := range map[string]struct {
			b       func(c *testkit.Census) actor.Behavior[bool]
			started int
		}{
			"inside": {func(c *testkit.Census) actor.Behavior[bool] {
				return testkit.Counted(c, func() actor.Behavior[bool] { return supervised(mortal()) })()
			}, 1},
			"around": {func(c *testkit.Census) actor.Behavior[bool] {
				return supervised(testkit.Counted(c, mortal)())
			}, 3},
		} {
			census := testkit.NewCensus(t)
			ref := actor.Spawn(s, test.b(census), "")
			ref.Tell(false)
			ref.Tell(false)
			synctest.Wait()
			require.Equal(t, 1, census.Running(), name)
			require.Equal(t, test.started, census.Started(), name)
			require.Equal(t, 1, census.Peak(), name)
		}
	})
}

func TestAnInstanceCountsEvenIfItsStartFails(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		census := testkit.NewCensus(t)
		broken := testkit.Counted(census, func() actor.Behavior[bool] {
			return func(*actor.Context[bool], *actor.Next[bool]) { panic("boom") }
		})
		actor.Spawn(s, broken(), "")
		synctest.Wait()
		require.Equal(t, 1, census.Started())
		require.Equal(t, 0, census.Running())
	})
}

func TestACensusOfATestThatFailsIsLogged(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var fake *fakeTest
		failing(t, func(t testing.TB) {
			fake = t.(*fakeTest)
			actor.Spawn(s, testkit.Counted(testkit.NewCensus(t), mortal)(), "a")
			synctest.Wait()
			t.Errorf("whatever")
		})
		require.Equal(t, "census:\n00:00:00.000  started  understudy://test/user/a  (1 running)\n\n", fake.log)
	})
}
