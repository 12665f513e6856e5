package effects

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/workflow"
)

// typeName is the type of the runs.
const typeName = "effects"

// A Job is the input of a run.
type Job struct {
	Effects int
	Slow    time.Duration // how long one of the effects takes; 0 for most runs
}

func init() { actor.RegisterType[Job]("effects.job") }

// patient makes a step ask a sink again that cannot be reached, or whose answer is lost.
var patient = workflow.Retry(0, actor.Backoff{Min: 100 * time.Millisecond, Max: 2 * time.Second, Jitter: 0.2})

// A worker makes the effects of the runs on one node.
type worker struct {
	node, sink string
	client     *http.Client // with a Transport of package outside
}

// work is the function of the runs. It makes the effects in two branches, and returns the sum of
// their numbers in the ledger.
//
// The first effect of the second branch of a slow run takes as long as all those of the first
// branch. So if a node is replaced meanwhile, its successor has made other effects of the run when
// the node makes this one.
func (n *worker) work(w *workflow.Run, j Job) (sum int64, err error) {
	var sums [2]int64
	part := func(p int) workflow.Part {
		return func(w *workflow.Run) (err error) {
			sums[p], err = n.series(w, j, p)
			return err
		}
	}
	err = workflow.Branch(w, "part", part(0), part(1))
	return sums[0] + sums[1], err
}

// series makes every second effect of a job.
func (n *worker) series(w *workflow.Run, j Job, part int) (sum int64, err error) {
	for i := part; i < j.Effects; i += 2 {
		serial, err := workflow.Step(w, fmt.Sprint("effect-", i), func(ctx context.Context) (int64, error) {
			time.Sleep(j.pause(i)) // also if ctx ends
			return n.effect(ctx, w.ID(), i)
		}, patient)
		if err != nil {
			return 0, err
		}
		sum += serial
	}
	return sum, nil
}

// pause returns how long an effect takes before the sink is called.
func (j Job) pause(i int) time.Duration {
	switch {
	case i == 1:
		return j.Slow
	case i%2 == 0:
		return j.Slow / time.Duration((j.Effects+1)/2)
	}
	return 0
}

// effect asks the sink for an effect, and returns its number in the ledger. It does so also if ctx
// has ended: the call of a process that was replaced shall come to the sink.
func (n *worker) effect(ctx context.Context, run string, i int) (serial int64, err error) {
	ctx = context.WithoutCancel(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprint(n.sink, "/effects/", run, "/", i), http.NoBody)
	if err != nil {
		return 0, err
	}
	r.Header.Set(nodeHeader, n.node)
	response, err := n.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the sink: %s: %s", response.Status, body)
	}
	return strconv.ParseInt(string(body), 10, 64)
}
