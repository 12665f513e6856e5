package outside_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// A payment service charges once, although its first answer does not arrive and the step is tried
// again. A service that must survive its own crashes takes outside.NewSQL, and books through
// outside.TxOf.
func ExampleHandler() {
	charges := 0
	service := outside.Handler(outside.NewMemory(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		charges++
		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(w, "charge %d", charges)
	}))
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls == 1 {
			service.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // the connection breaks
		}
		service.ServeHTTP(w, r)
	}))
	defer server.Close()
	client := &http.Client{Transport: outside.Transport{}}

	charge := func(ctx context.Context) (string, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/charge", strings.NewReader("amount=20"))
		if err != nil {
			return "", err
		}
		res, err := client.Do(r)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		return res.Status + ": " + string(body), err
	}

	ctx := context.Background()
	system := actor.NewSystem("shop", persistence.WithJournal(journal.NewMemory()))
	orders, err := workflow.Start(system, "order", func(w *workflow.Run, _ int) (string, error) {
		return workflow.Step(w, "charge", charge, workflow.Retry(5, actor.Backoff{}))
	})
	must(err)
	order, err := orders.Run(ctx, "4711", 20)
	must(err)
	fmt.Println(order.Result(ctx))
	fmt.Println(calls, "calls,", charges, "charge")
	must(system.Shutdown(ctx))
	// Output:
	// 201 Created: charge 1 <nil>
	// 2 calls, 1 charge
}

// A cluster is a client of Kubernetes with one kind of objects. The server refuses an update
// whose resourceVersion is not the present one.
type cluster struct {
	manifests map[string]manifest
	updates   int
}

type manifest struct {
	resourceVersion string
	annotations     map[string]string
	spec            []byte
}

// Get implements outside.Objects. A NotFound error of a real client is the version "".
func (c *cluster) Get(_ context.Context, name string) (outside.Object, string, error) {
	m := c.manifests[name]
	token, _ := strconv.ParseUint(m.annotations["example.com/token"], 10, 64)
	writer := outside.Caller{Key: m.annotations["example.com/key"], Scope: m.annotations["example.com/scope"], Token: token}
	return outside.Object{Data: m.spec, Writer: writer}, m.resourceVersion, nil
}

// Put implements outside.Objects. A Conflict error of a real client is outside.ErrChanged, and so
// is AlreadyExists when it creates.
func (c *cluster) Put(_ context.Context, name string, o outside.Object, version string) error {
	if c.manifests[name].resourceVersion != version {
		return outside.ErrChanged
	}
	c.updates++
	c.manifests[name] = manifest{strconv.Itoa(c.updates), map[string]string{
		"example.com/key": o.Writer.Key, "example.com/scope": o.Writer.Scope, "example.com/token": strconv.FormatUint(o.Writer.Token, 10),
	}, o.Data}
	return nil
}

// A step updates an object of Kubernetes. Its annotations say which step has done it, and with
// which token, so that neither a repetition nor a process that was replaced does it again.
func ExampleUpdate() {
	kubernetes := &cluster{manifests: map[string]manifest{"web": {resourceVersion: "41", spec: []byte("replicas: 2")}}}
	ctx := context.Background()
	system := actor.NewSystem("deploy", persistence.WithJournal(journal.NewMemory()))
	rollouts, err := workflow.Start(system, "rollout", func(w *workflow.Run, replicas int) (string, error) {
		return "", workflow.Do(w, "scale", func(ctx context.Context) error {
			for range 2 { // the second time there is nothing to do
				err := outside.Update(ctx, kubernetes, "web", func(old []byte) ([]byte, error) {
					fmt.Printf("%s -> %d\n", old, replicas)
					return fmt.Appendf(nil, "replicas: %d", replicas), nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	must(err)
	rollout, err := rollouts.Run(ctx, "web-3", 5)
	must(err)
	_, err = rollout.Result(ctx)
	must(err)
	fmt.Printf("%s by %s\n", kubernetes.manifests["web"].spec, kubernetes.manifests["web"].annotations["example.com/key"])
	must(system.Shutdown(ctx))
	// Output:
	// replicas: 2 -> 5
	// replicas: 5 by rollout/web-3/scale
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
