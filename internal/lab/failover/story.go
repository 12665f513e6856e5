package failover

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/understudy-go/understudy/internal/lab/journals"
	"github.com/understudy-go/understudy/internal/process"
)

// Timeouts, far longer than each step takes on an idle machine.
const (
	startLimit    = 30 * time.Second
	failoverLimit = 45 * time.Second
	finishLimit   = 30 * time.Second
)

// tell runs the whole story: the start, the faults one by one, and the final check.
func (d *director) tell(ctx context.Context, first harm) error {
	if err := d.begin(ctx); err != nil {
		return err
	}
	for _, h := range []harm{first, kill, leave} {
		if err := d.watch(ctx, 2*time.Second); err != nil {
			return err
		}
		if err := d.strike(ctx, h); err != nil {
			return err
		}
	}
	if err := d.watch(ctx, time.Second); err != nil {
		return err
	}
	if err := d.verify(ctx); err != nil || d.picture == "" {
		return err
	}
	return os.WriteFile(d.picture, []byte(d.show.picture()), 0o600)
}

func (d *director) begin(ctx context.Context) error {
	d.show.text("three processes, one counter; journal in %s", journals.Shown(d.journal))
	if d.kept {
		d.show.text("what is counted stays there, as %s", d.id)
	}
	for node := range d.addresses {
		if err := d.start(node); err != nil {
			return err
		}
	}
	if err := d.until(ctx, "three members and a host", startLimit, func() bool { return d.together(3) }); err != nil {
		return err
	}
	d.show.say("", "three members; %d clients on each send increments", clientsPerNode)
	return nil
}

// A harm is a fault of the host.
type harm struct {
	name   string
	do     func(d *director, host string) error
	repair func(d *director, host string) error // nil if the fault is not repaired
	after  string                               // the state of the node after the repair
}

var (
	kill = harm{
		name: "kill -9",
		do: func(d *director, host string) error {
			err := d.running[host].Signal(os.Kill)
			delete(d.running, host)
			return err
		},
		repair: func(d *director, host string) error { return d.start(host) },
		after:  "has been started again",
	}

	pause = harm{
		name: "kill -STOP",
		do:   func(d *director, host string) error { return process.Pause(d.running[host].PID()) },
		repair: func(d *director, host string) error {
			d.show.say(host, "kill -CONT: it still believes that it hosts")
			return process.Continue(d.running[host].PID())
		},
		after: "has found itself removed",
	}

	leave = harm{
		name: "leaves",
		do: func(d *director, host string) error {
			err := d.running[host].Tell(orderLeave)
			delete(d.running, host)
			return err
		},
	}
)

// strike injects a fault into the host, waits until another node has answered, and repairs it.
func (d *director) strike(ctx context.Context, h harm) error {
	host, ok := d.host()
	if !ok {
		return fmt.Errorf("nobody hosts before %q", h.name)
	}
	before, generation := d.running[host].figures().Incarnation, d.books.generation
	d.show.say(host, "%s, at count %d", h.name, d.books.last.Count)
	d.show.harm(host, h.name)
	struck := time.Now()
	if err := h.do(d, host); err != nil {
		return err
	}
	taken := func() bool { return newer(d.books.last.Generation, generation) }
	if err := d.until(ctx, "an increment counted by another host", failoverLimit, taken); err != nil {
		return err
	}
	d.show.say("", "first reply %.2fs after that: count %d, generation %s",
		d.books.lastAt.Sub(struck).Seconds(), d.books.last.Count, d.books.last.Generation)
	if h.repair == nil {
		return nil
	}
	if err := h.repair(d, host); err != nil {
		return err
	}
	again := func() bool { return d.running[host].figures().Incarnation != before && d.together(3) }
	if err := d.until(ctx, "three members again", startLimit, again); err != nil {
		return err
	}
	d.show.say(host, "%s, and is a member again, as a new incarnation", h.after)
	return nil
}

// newer compares generations as printed.
func newer(a, b string) bool {
	var aTerm, aSeq, bTerm, bSeq uint64
	_, errA := fmt.Sscanf(a, "%d.%d", &aTerm, &aSeq)
	_, errB := fmt.Sscanf(b, "%d.%d", &bTerm, &bSeq)
	return errA == nil && errB == nil && (aTerm > bTerm || aTerm == bTerm && aSeq > bSeq)
}
