package cron_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/singleton"
)

func TestTheSettingsThatNodesCompareAreThoseOfTheSingleton(t *testing.T) {
	cfg := cron.Config{Jobs: map[string]cron.Job{"note": cron.Func(func(context.Context, cron.Run) error { return nil })}}
	before := cron.Compared(cfg)
	require.Equal(t, "yes", before["at least once"])
	cfg.Options = []singleton.Option{singleton.Buffer(10)}
	require.Equal(t, before, cron.Compared(cfg))
	cfg.Options = []singleton.Option{singleton.Role("night")}
	before["role"] = "night"
	require.Equal(t, before, cron.Compared(cfg))
	require.PanicsWithError(t, "cron: Config.Jobs has no job", func() { cron.Compared(cron.Config{}) })
}
