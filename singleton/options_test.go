package singleton_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func TestOptionsThatMakeNoSensePanic(t *testing.T) {
	require.PanicsWithValue(t, "singleton: option 2 is nil", func() { behaviors.Singleton(mortal, singleton.Buffer(1), nil) })
	require.PanicsWithValue(t, "singleton: nil factory; give it a function that returns the behavior of an instance", func() { behaviors.Singleton[msg](nil) })
	require.PanicsWithValue(t, `singleton: Role("a\xff"): the name is not UTF-8`, func() { singleton.Role("a\xff") })
	require.PanicsWithValue(t, `singleton: OnNode("a\n"): the name has the control character U+000A`, func() { singleton.OnNode("a\n") })
	require.PanicsWithValue(t, `singleton: OnElected("\x00"): the name has the control character U+0000`, func() {
		singleton.OnElected("\x00", func([]singleton.Candidate) (string, bool) { return "", false })
	})
	require.PanicsWithValue(t, "singleton: buffer size -1 is negative; 0 keeps no message", func() { singleton.Buffer(-1) })
	require.PanicsWithValue(t, "singleton: buffer size 10001 is greater than 10000; every node would send as many at once when an instance starts; to keep more, store them with package persistence/deliveryqueue", func() { singleton.Buffer(10_001) })
	require.NotPanics(t, func() { singleton.Buffer(10_000) })
	require.PanicsWithValue(t, "singleton: stop timeout -1s is negative", func() { singleton.StopTimeout(-time.Second) })
	require.PanicsWithValue(t, "singleton: restart backoff -1s is negative", func() { singleton.RestartBackoff(actor.Backoff{Min: -time.Second}) })
	require.PanicsWithValue(t, "singleton: stop message string is not a message of the singleton, which takes singleton_test.msg",
		func() { behaviors.Singleton(parrot, singleton.StopMessage("stop")) })
}

func TestASecondSingletonOfTheSameNamePanics(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	actor.Spawn(s, behaviors.Singleton(parrot), "one")
	require.Panics(t, func() { actor.Spawn(s, behaviors.Singleton(newLedger().keep(0)), "one") })
}
