package router_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/router"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/telemetrytest"
	"github.com/understudy-go/understudy/testkit"
)

func TestRouteesAndDroppedMessagesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		value := func(name string) int {
			t.Helper()
			synctest.Wait()
			return telemetrytest.Value(t, s, "understudy_router_"+name, "router_test.job")
		}
		ctx, stop := context.WithCancel(t.Context())
		pool := actor.Spawn(s, router.Pool(3, d.worker()), "", extension.WithContext(ctx))
		group := actor.Spawn(s, router.Group(workers), "")
		tell(group, "lost")
		require.Equal(t, 1, value("dropped_total"))
		require.Equal(t, 3, value("routees"))
		receptionist.Register(s, workers, actor.Spawn(s, d.worker(), "a"))
		require.Equal(t, 4, value("routees"), "those of all routers")
		tell(pool, "")
		require.Equal(t, 3, value("routees"))
		stop()
		require.Equal(t, 1, value("routees"))

		panics := router.ConsistentHashing(func(job) string { panic("told to") })
		tell(actor.Spawn(s, router.Pool(1, d.worker(), panics), ""), "lost too")
		require.Equal(t, 2, value("dropped_total"))
		telemetrytest.Check(t, s)
	})
}
