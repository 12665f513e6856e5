package singleton_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func TestWithoutAClusterTheSingletonRunsRightHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Singleton(mortal), "one")
		ref.Tell(msg{"hello", p.Ref()})
		p.Expect("1.1 hello")
		status, ok := singleton.StatusOf(s, "one")
		require.True(t, ok)
		require.Equal(t, singleton.Host, status.Phase)
		require.True(t, status.Here)
	})
}

func TestAnInstanceThatStopsOrFailsIsRestartedInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		p := testkit.NewProbe[string](t, s)
		census := testkit.NewCensus(t)
		ref := actor.Spawn(s, behaviors.Singleton(testkit.Counted(census, mortal)), "one")
		for _, end := range []string{"stop", "fail"} {
			ref.Tell(msg{end, p.Ref()})
			synctest.Wait()
			ref.Tell(msg{"a", p.Ref()}) // while there is no instance
			ref.Tell(msg{"b", p.Ref()})
			p.ExpectNone(99 * time.Millisecond)
			if end == "stop" {
				p.Expect("1.2 a")
				p.Expect("1.2 b")
			}
		}
		p.Expect("1.3 a")
		p.Expect("1.3 b")
		require.Equal(t, 1, census.Peak())
		require.Equal(t, 3, census.Started())
	})
}
