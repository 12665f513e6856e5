package kubernetes_test

import (
	"context"
	"fmt"
	"os"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/kubernetes"
)

// The name of the pod is metadata.name of the downward API. On a laptop there is no pod, and a
// program may continue.
func ExampleMarkPod() {
	ctx := context.Background()
	node, err := cluster.Start(ctx, cluster.Config{Name: "shop", Bind: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = node.Leave(ctx) }()
	if err := kubernetes.MarkPod(node, os.Getenv("POD_NAME")); err != nil {
		fmt.Println(err)
	}
	// Output: kubernetes: not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set
}
