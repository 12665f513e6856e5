package topic_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/telemetrytest"
	"github.com/understudy-go/understudy/testkit"
)

func TestPublishedMessagesAndSubscribersAreCountedByTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		a, b := testkit.NewProbe[price](t, s), testkit.NewProbe[price](t, s)
		fruit.Subscribe(s, a.Ref())
		cancel := fruit.Subscribe(s, b.Ref())
		fruit.Publish(s, apples)
		fruit.Publish(s, pears)
		vegetables.Publish(s, pears)
		require.Equal(t, 2, telemetrytest.Value(t, s, "understudy_topic_published_total", "fruit"))
		require.Equal(t, 1, telemetrytest.Value(t, s, "understudy_topic_published_total", "vegetables"))
		require.Equal(t, 2, telemetrytest.Value(t, s, "understudy_topic_subscribers", "fruit"))
		require.False(t, telemetrytest.Has(s, "understudy_topic_subscribers", "vegetables"))
		cancel()
		require.Equal(t, 1, telemetrytest.Value(t, s, "understudy_topic_subscribers", "fruit"))
		telemetrytest.Check(t, s)
	})
}
