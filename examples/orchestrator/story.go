package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
)

// stores are the nodes that the story starts and kills: processes, or nodes in a test.
type stores interface {
	Start(name string) error
	Kill(name string) error
}

// A story runs the events, as seen by the gateway.
type story struct {
	node        *cluster.Node
	coordinator *placement.Coordinator
	stores      stores
	out         io.Writer
	began       time.Time
	shown       map[string]string // the last line of the timeline, by label
}

// patience bounds each step; a step takes a few seconds.
const patience = 30 * time.Second

// tell runs the story to its end.
func (s *story) tell(ctx context.Context) error {
	for _, step := range []func(context.Context) error{s.begin, s.submit, s.query, s.photosReturn, s.docsMove, s.query} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return s.showCluster(ctx)
}

// begin starts two stores.
func (s *story) begin(ctx context.Context) error {
	s.began, s.shown = time.Now(), map[string]string{}
	s.say("%s leads; store-a has the volume photos, store-b the volume docs", gatewayNode)
	if err := errors.Join(s.stores.Start("store-a"), s.stores.Start("store-b")); err != nil {
		return err
	}
	return s.until(ctx, "three nodes", func() bool {
		v, err := s.coordinator.View(ctx)
		return err == nil && len(v.Alive()) == 3
	})
}

// submit submits an agent for each volume.
func (s *story) submit(ctx context.Context) error {
	on := func(volume string) placement.Constraints {
		return placement.Constraints{Roles: []string{"worker"}, Meta: map[string]string{"volume": volume}}
	}
	for _, spec := range []placement.Spec{
		storageAgent.Spec("storage/photos", photos).WithConstraints(on("photos")).WithCrashStrategy(placement.WaitForReturn(patience)),
		storageAgent.Spec("storage/docs", docs).WithConstraints(on("docs")),
	} {
		d, err := s.coordinator.Submit(ctx, spec)
		if err != nil {
			return err
		}
		s.say("submitted %s: %s chose %s; if that dies: %v", spec.Label, d.Strategy, d.Node, spec.OnCrash)
	}
	return s.until(ctx, "both agents", func() bool {
		return s.state(ctx, "storage/photos", placement.Running) && s.state(ctx, "storage/docs", placement.Running)
	})
}

// query asks the agents by their labels.
func (s *story) query(ctx context.Context) error {
	listed, err := s.list(ctx, "storage/photos", "/")
	if err != nil {
		return err
	}
	s.say("photos: ls / = %v", listed)
	file, err := actor.Ask(ctx, storageAgent.Ref(s.node.System, "storage/photos"), func(replyTo actor.ActorRef[string]) Storage {
		return ReadFile{Dir: "/vacation", Name: "beach.jpg", ReplyTo: replyTo}
	})
	if err != nil {
		return err
	}
	s.say("photos: read beach.jpg in /vacation = %s", file)
	if listed, err = s.list(ctx, "storage/docs", "/reports"); err != nil {
		return err
	}
	s.say("docs: ls /reports = %v", listed)
	return nil
}

func (s *story) list(ctx context.Context, label, path string) ([]string, error) {
	return actor.Ask(ctx, storageAgent.Ref(s.node.System, label), func(replyTo actor.ActorRef[[]string]) Storage {
		return ListDir{Path: path, ReplyTo: replyTo}
	})
}

// photosReturn kills the only node that has the photos, and starts it again: its agent
// waits for it.
func (s *story) photosReturn(ctx context.Context) error {
	if err := s.kill(ctx, "store-a", "storage/photos", placement.WaitingForReturn); err != nil {
		return err
	}
	if err := s.start("store-a"); err != nil {
		return err
	}
	return s.until(ctx, "the photos", func() bool { return s.state(ctx, "storage/photos", placement.Running) })
}

// docsMove kills the only node that has the docs; another node with that volume joins.
func (s *story) docsMove(ctx context.Context) error {
	if err := s.kill(ctx, "store-b", "storage/docs", placement.Unplaced); err != nil {
		return err
	}
	why, err := s.coordinator.Explain(ctx, "storage/docs")
	if err != nil {
		return err
	}
	s.say("storage/docs is nowhere: %s", why.Error)
	if err := s.start("store-c"); err != nil {
		return err
	}
	return s.until(ctx, "the docs", func() bool { return s.state(ctx, "storage/docs", placement.Running) })
}

func (s *story) kill(ctx context.Context, store, label string, becomes placement.State) error {
	s.say("kill -9 %s", store)
	if err := s.stores.Kill(store); err != nil {
		return err
	}
	return s.until(ctx, label+" "+string(becomes), func() bool { return s.state(ctx, label, becomes) })
}

func (s *story) start(store string) error {
	s.say("%s starts, with the volume %s", store, volumes[store])
	return s.stores.Start(store)
}

// showCluster prints which actor runs on which node.
func (s *story) showCluster(ctx context.Context) error {
	v, err := s.coordinator.View(ctx)
	if err != nil {
		return err
	}
	for _, n := range v.Nodes {
		s.say("%-8s %-6s %-16s up %-5v runs %v", n.Name, strings.Join(n.Roles, ","), meta(n), n.Up, n.Actors)
	}
	return nil
}

func meta(n placement.Node) string {
	if volume, ok := n.Meta["volume"]; ok {
		return "volume=" + volume
	}
	return ""
}

// state reports whether a spec is in the given state, and prints changes.
func (s *story) state(ctx context.Context, label string, want placement.State) bool {
	specs, err := s.coordinator.Specs(ctx)
	if err != nil {
		return false
	}
	is := false
	for _, spec := range specs {
		now := string(spec.State)
		if spec.Node != "" {
			now += ", " + spec.Node
		}
		if s.shown[spec.Spec.Label] != now {
			s.say("  %s: %s", spec.Spec.Label, now)
			s.shown[spec.Spec.Label] = now
		}
		is = is || spec.Spec.Label == label && spec.State == want
	}
	return is
}

// until waits until is returns true, and checks every 50 ms.
func (s *story) until(ctx context.Context, what string, is func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no %s within %v", what, patience))
	defer cancel()
	for !is() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// say prints one line of the timeline.
func (s *story) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, "%5.2fs  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}
