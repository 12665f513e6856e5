package telemetry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/telemetrytest"
	"github.com/understudy-go/understudy/testkit"
)

func TestEachReasonOfDeadLettersHasASeriesFromTheStart(t *testing.T) {
	const name = "understudy_dead_letters_total"
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	for _, reason := range []string{"terminated", "no such actor", "mailbox is full", "the ActorRef addresses no actor", "other"} {
		require.Zero(t, telemetrytest.Value(t, s, name, reason))
	}
	actor.Resolve[string](s, "no path").Tell("hello")
	require.Equal(t, 1, telemetrytest.Value(t, s, name, "the ActorRef addresses no actor"))
	require.Zero(t, telemetrytest.Value(t, s, name, "terminated"))
}

func TestWithDoesNotChangeTheFamilyThatItExtends(t *testing.T) {
	f := telemetry.NewCounter("test_total", "Tests.", "of").With(1, "a")
	b, c := f.With(telemetry.Bool(true), "b"), f.With(telemetry.Bool(false), "c")
	require.Equal(t, telemetry.Family{Name: "test_total", Help: "Tests.", Type: telemetry.Counter, Labels: []string{"of"}, Series: []telemetry.Series{{Labels: []string{"a"}, Value: 1}}}, f)
	require.Equal(t, []telemetry.Series{{Labels: []string{"a"}, Value: 1}, {Labels: []string{"b"}, Value: 1}}, b.Series)
	require.Equal(t, []telemetry.Series{{Labels: []string{"a"}, Value: 1}, {Labels: []string{"c"}}}, c.Series)
}
