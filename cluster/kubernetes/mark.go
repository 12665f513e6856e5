package kubernetes

import (
	"context"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/singleton"
)

const (
	serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"
	period         = 30 * time.Second
)

// MarkPod keeps the deletion cost of this pod at the number of singletons whose instances run on n.
// Coordinators of placement and sharding and the planner of a schedule are singletons, too. Actors
// that they place, and entities, do not count: they are on all nodes, and their numbers always
// change.
//
// It writes the first time at once, then every 30 s if the number has changed. It takes the
// credentials of the pod's service account, whose token it reads again for each request. A failure
// is logged as a warning once, and repeated attempts follow every 30 s. MarkPod does not block, and
// the writing ends when n leaves or is shut down.
//
// pod is the name of the pod, metadata.name of the downward API. Call MarkPod once for each node.
// It returns an error if pod is empty, or if the process is not in a pod with the token of a
// service account.
func MarkPod(n *cluster.Node, pod string) error {
	p, err := inCluster(os.Getenv, serviceAccount, pod)
	if err != nil {
		return err
	}
	mark(n, p)
	return nil
}

func mark(n *cluster.Node, p patcher) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	cancel := n.OnShutdown(actor.ServiceUnbind, "pod deletion cost", func(context.Context) error {
		stop()
		<-ended
		return nil
	})
	go func() {
		defer close(ended)
		defer stop()
		w := writer{patcher: p, log: n.Log(), written: unknown}
		ticks := time.NewTicker(period)
		defer ticks.Stop()
		for {
			w.write(ctx, running(n.System))
			select {
			case <-ctx.Done():
				return
			case <-n.Terminated():
				cancel()
				return
			case <-ticks.C:
			}
		}
	}()
}

// running returns how many instances run on the node.
func running(s *actor.System) (all int) {
	for _, status := range singleton.Statuses(s) {
		if status.Here {
			all++
		}
	}
	return all
}

// unknown is a cost before the first write: a restarted container finds its old annotation.
const unknown = -1

// A writer belongs to one goroutine.
type writer struct {
	patcher
	log     *zap.Logger
	written int
	failing bool
}

func (w *writer) write(ctx context.Context, cost int) {
	if cost == w.written {
		return
	}
	err := w.patch(ctx, cost)
	switch {
	case err == nil:
		w.written, w.failing = cost, false
	case ctx.Err() == nil && !w.failing:
		w.failing = true
		w.log.Warn("cannot write the deletion cost of this pod", zap.Int("cost", cost), zap.Error(err))
	}
}
