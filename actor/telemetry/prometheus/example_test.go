package prometheus_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/understudy-go/understudy/actor/telemetry/prometheus"
	"github.com/understudy-go/understudy/cluster"
)

// The status page of a node serves the metrics, too.
func ExampleHandler() {
	ctx := context.Background()
	node, err := cluster.Start(ctx, cluster.Config{Name: "shop", NodeID: "first"})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/cluster/", http.StripPrefix("/cluster", node.Handler(cluster.WithMetrics(prometheus.Handler(node.System)))))

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/cluster/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, "understudy_members{") {
			fmt.Print(line)
		}
	}
	fmt.Println(node.Leave(ctx))
	// Output:
	// understudy_members{status="down"} 0
	// understudy_members{status="exiting"} 0
	// understudy_members{status="joining"} 0
	// understudy_members{status="leaving"} 0
	// understudy_members{status="up"} 1
	// <nil>
}
