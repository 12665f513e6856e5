package router_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// job is what routees take; the empty one ends its routee, "fail" fails it. One with a
// gate takes until that opens.
type job struct {
	What string
	Gate chan struct{}
}

var workers = receptionist.NewKey[job]("workers")

// A diary has what each routee has handled, by its name.
type diary struct {
	mu   sync.Mutex // guards jobs
	jobs map[string][]string
}

func newDiary() *diary { return &diary{jobs: map[string][]string{}} }

func (d *diary) worker() actor.Behavior[job] {
	return behaviors.Receive(func(ctx *actor.Context[job], j job) actor.Behavior[job] {
		if j.Gate != nil {
			<-j.Gate
		}
		switch j.What {
		case "":
			return behaviors.Stopped
		case "fail":
			panic("told to")
		}
		d.note(name(ctx.Self()), j.What)
		return behaviors.Same
	})
}

func name(ref actor.AnyRef) string {
	path := ref.Path()
	for i := len(path) - 1; ; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
}

func (d *diary) note(who, what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.jobs[who] = append(d.jobs[who], what)
}

// take returns what has been handled since it was last asked, once everybody is idle.
func (d *diary) take() map[string][]string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	jobs := d.jobs
	d.jobs = map[string][]string{}
	return jobs
}

func tell(to actor.ActorRef[job], what ...string) {
	for _, w := range what {
		to.Tell(job{What: w})
	}
}

// deadLetters returns a probe that gets the dead letters of s.
func deadLetters(t *testing.T, s *actor.System) *testkit.Probe[actor.DeadLetter] {
	t.Helper()
	probe := testkit.NewProbe[actor.DeadLetter](t, s)
	actor.Subscribe(s, probe.Ref())
	return probe
}
