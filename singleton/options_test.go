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

func TestOptionsThatMakeNoSensePanic(t *testing.T) {
	require.PanicsWithValue(t, "singleton: option 2 is nil", func() { behaviors.Singleton(mortal, singleton.Buffer(1), nil) })
	require.PanicsWithValue(t, "singleton: nil factory; give it a function that returns the behavior of an instance", func() { behaviors.Singleton[msg](nil) })
	require.PanicsWithValue(t, `singleton: Role("a\xff"): the name is not UTF-8`, func() { singleton.Role("a\xff") })
	require.PanicsWithValue(t, `singleton: OnNode("a\n"): the name has the control character U+000A`, func() { singleton.OnNode("a\n") })
	require.PanicsWithValue(t, `singleton: OnElected("\x00"): the name has the control character U+0000`, func() {
		singleton.OnElected("\x00", func([]singleton.Candidate) (string, bool) { return "", false })
	})
	require.PanicsWithValue(t, "singleton: stop message string is not a message of the singleton, which takes singleton_test.msg",
		func() { behaviors.Singleton(parrot, singleton.StopMessage("stop")) })
}

// Numbers come from configurations, and a configuration must not end a program that runs.
func TestANumberThatMakesNoSenseIsAnErrorAndFailsItsManagerOnly(t *testing.T) {
	for want, o := range map[string]singleton.Option{
		"singleton: buffer size -1 is negative; 0 keeps no message": singleton.Buffer(-1),
		"singleton: buffer size 200000 is greater than 10000; ":     singleton.Buffer(200_000),
		"singleton: expiry -1s is negative":                         singleton.Expire(-time.Second),
		"singleton: window 0 of AtLeastOnce is not positive":        singleton.AtLeastOnce(0),
		"singleton: to give up after 0 failures; one is the least":  singleton.Attempts(0),
		"singleton: stop timeout -1s is negative":                   singleton.StopTimeout(-time.Second),
		"singleton: restart backoff -1s is negative":                singleton.RestartBackoff(actor.Backoff{Min: -time.Second}),
		"singleton: lease retry 0s is not positive":                 singleton.LeaseRetry(0),
	} {
		require.ErrorContains(t, singleton.Check(singleton.Buffer(singleton.MaxBuffer), o), want)
		synctest.Test(t, func(t *testing.T) {
			s := testkit.NewSystem(t, testkit.WithoutEncoding())
			failed := make(chan error, 1)
			actor.Spawn(s, parentOfSingletons(failed, o), "parent").Tell(order{spawn: "wrong"})
			require.ErrorContains(t, <-failed, want)
		})
	}
	err := singleton.Check(singleton.Buffer(-1), singleton.LeaseRetry(0))
	require.ErrorContains(t, err, "buffer size")
	require.ErrorContains(t, err, "lease retry", "all of them are named")
	require.NoError(t, singleton.Check())
}

func TestASecondSingletonOfTheSameNamePanics(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	actor.Spawn(s, behaviors.Singleton(parrot), "one")
	require.Panics(t, func() { actor.Spawn(s, behaviors.Singleton(newLedger().keep(0)), "one") })
}
