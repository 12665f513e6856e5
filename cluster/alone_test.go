package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/memnet"
)

// Three processes without seeds would be three clusters, each with its own instance of a singleton.
func TestANodeThatFoundsAClusterAloneSaysSo(t *testing.T) {
	found := cluster.DiscoveryFunc(func(context.Context) ([]string, error) { return []string{"n1:7355"}, nil })
	for what, test := range map[string]struct {
		cfg  cluster.Config
		want []zapcore.Level
	}{
		"a chosen address":         {cluster.Config{Bind: "n1:7355"}, []zapcore.Level{zapcore.WarnLevel}},
		"a chosen public address":  {cluster.Config{Bind: "n1:0", Advertise: "n1:7355"}, []zapcore.Level{zapcore.WarnLevel}},
		"an empty list":            {cluster.Config{Bind: "n1:7355", Seeds: []string{}}, []zapcore.Level{zapcore.WarnLevel}},
		"a port that is picked":    {cluster.Config{Bind: "n1:0"}, []zapcore.Level{zapcore.InfoLevel}},
		"its own address as seed":  {cluster.Config{Bind: "n1:7355", Seeds: []string{"n1:7355"}}, nil},
		"discovery of itself only": {cluster.Config{Bind: "n1:7355", Discovery: found, MinSeeds: 1}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := memnet.New(1)
				core, logs := observer.New(zap.InfoLevel)
				cfg := test.cfg
				cfg.Network, cfg.Logger = net.Host("n1"), zap.New(core)
				node, err := cluster.Start(t.Context(), cfg)
				require.NoError(t, err)
				require.NoError(t, node.Shutdown(t.Context()))
				net.Close()
				time.Sleep(15 * time.Second) // for the goroutines of memberlist
				var levels []zapcore.Level
				for _, e := range logs.FilterMessage("founding a cluster alone, as there are no seeds and no discovery").All() {
					levels = append(levels, e.Level)
					require.Equal(t, node.Address(), e.ContextMap()["address"])
				}
				require.Equal(t, test.want, levels)
			})
		})
	}
}
