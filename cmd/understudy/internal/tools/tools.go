// Package tools serves the answers of the command as tools of an MCP server, for programs that talk
// to language models.
package tools

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

const instructions = `These tools ask a running node of an Understudy cluster how the cluster is. Begin with why if something is
wrong, and with status otherwise. Everything is as one node sees it, so two nodes may differ during a partition.`

// New returns a server. Its tools only read, unless actions is true.
func New(c *client.Client, actions bool, version string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "understudy", Title: "Understudy", Version: version}, &mcp.ServerOptions{Instructions: instructions})
	addReaders(s, c)
	if actions {
		addActions(s, c)
	}
	return s
}

// Serve serves one client until it closes in, or ctx ends.
func Serve(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	err := s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// The transport must not close it.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

type (
	none  struct{}
	named struct {
		Name string `json:"name,omitempty" jsonschema:"a name: of a singleton, a member, or what a problem is about; empty for all"`
	}
	one struct {
		Name string `json:"name,omitempty" jsonschema:"the name of a singleton; empty for all"`
	}
	letters struct {
		Reason    string `json:"reason,omitempty" jsonschema:"only those with exactly this reason, such as terminated"`
		Recipient string `json:"recipient,omitempty" jsonschema:"only those whose recipient contains this text"`
		Limit     *int   `json:"limit,omitempty" jsonschema:"how many at most; 20 if it is missing"`
	}
	entity struct {
		Type   string `json:"type" jsonschema:"the type of the entity, such as cart; singleton for a singleton"`
		ID     string `json:"id" jsonschema:"its id, such as 42; of a singleton its name"`
		At     string `json:"at,omitempty" jsonschema:"the number of an event or a time in RFC 3339: the state of then; empty for the present one"`
		Since  string `json:"since,omitempty" jsonschema:"the number of an event: say what has changed since then"`
		Events int    `json:"events,omitempty" jsonschema:"how many of the last events to list"`
	}
	runs struct {
		Type  string `json:"type" jsonschema:"the name of the type of workflows"`
		ID    string `json:"id,omitempty" jsonschema:"of one run; empty for all"`
		State string `json:"state,omitempty" jsonschema:"only those in this state"`
		Tag   string `json:"tag,omitempty" jsonschema:"only those with this tag"`
		Limit int    `json:"limit,omitempty" jsonschema:"how many at most"`
	}
	steering struct {
		Type string `json:"type" jsonschema:"the name of the type of workflows"`
		ID   string `json:"id"`
		Do   string `json:"do" jsonschema:"cancel, fail, retry or resume"`
		Step string `json:"step,omitempty" jsonschema:"from which to resume"`
		Why  string `json:"why" jsonschema:"the reason"`
	}
	member struct {
		Member string `json:"member" jsonschema:"the name of the member that is gone for good"`
	}
	leave struct {
		Seconds float64 `json:"seconds,omitempty" jsonschema:"how long to wait until the node has left; 60 if it is missing"`
	}
	downed struct {
		Member string `json:"member"`
		By     string `json:"by" jsonschema:"the node that takes it down"`
	}
)

func addReaders(s *mcp.Server, c *client.Client) {
	read(s, "status", "Summary of the cluster: members by status, leader, agreement, singletons, versions, dead letters, links to other nodes, journals, placed actors, problems.",
		func(ctx context.Context, _ none) (report.Summary, error) {
			return report.Summarize(ctx, c)
		})
	read(s, "why", "What is wrong in the cluster or does not move, and why, in sentences: members that are not heard, singletons that do not run or fail again and again. Also links, journals and projections that fail, actors that are not placed or wait for each other, and slow handlers.",
		func(ctx context.Context, in named) (report.Why, error) {
			return report.Explain(ctx, c.Each(), in.Name)
		})
	read(s, "members", "The members of the cluster, the oldest first: address, status, roles, version, and the members that do not hear from them.",
		func(ctx context.Context, _ none) (report.Members, error) {
			snapshot, err := c.Status(ctx)
			return report.MembersOf(snapshot), err
		})
	read(s, "singletons", "The singletons of the cluster, of each of which one instance runs: host, starts, failures, last error, waiting messages.",
		func(ctx context.Context, in one) (report.Singletons, error) {
			snapshot, err := c.Status(ctx)
			if err != nil {
				return report.Singletons{}, err
			}
			return report.SingletonsOf(snapshot, in.Name)
		})
	read(s, "entities", "The types of entities that this node has started: how many shards have a home and where, entities that are awake here, waiting and dropped messages. Entities are actors by id, of which each runs once in the cluster.",
		func(ctx context.Context, in one) (report.Entities, error) {
			d, err := c.Details(ctx)
			if err != nil {
				return report.Entities{}, err
			}
			return report.EntitiesOf(d, in.Name)
		})
	read(s, "entity", "What one entity or singleton has stored: its state, at present or after an earlier event, its last events, and what has changed. The program must allow it with cluster.ShowStates.",
		func(ctx context.Context, in entity) (status.Entity, error) {
			return c.Entity(ctx, in.Type, in.ID, in.At, in.Since, in.Events)
		})
	read(s, "schedules", "The schedules that this node has started: cron entries, when they are due next, runs that go on, counts by outcome, the last run with its error. Only the node that hosts a schedule knows its entries.",
		func(ctx context.Context, in one) (report.Schedules, error) {
			d, err := c.Details(ctx)
			if err != nil {
				return report.Schedules{}, err
			}
			return report.SchedulesOf(d, in.Name)
		})
	read(s, "runs", "The runs of a type of workflows in the journal, the newest first, and how many there are by state. With an id: what that run does, with the steps that have not ended, attempts, errors and times.",
		func(ctx context.Context, in runs) (status.Runs, error) {
			if in.ID == "" {
				return c.Runs(ctx, in.Type, in.State, in.Tag, in.Limit)
			}
			one, err := c.Run(ctx, in.Type, in.ID)
			return status.Runs{Type: in.Type, Counts: map[string]int{}, Runs: []status.WorkflowRun{one}}, err
		})
	read(s, "projections", "The projections that the nodes run: how far they are behind, failures, and the persistence ids whose events they hold back because one cannot be decoded, each with the event and the reason.",
		func(ctx context.Context, in named) (report.Projections, error) {
			return report.AskProjections(ctx, c.Each(), in.Name)
		})
	read(s, "events", "What the nodes have decided and noticed, and why, the oldest first: members that were downed, singletons that moved, failed or were fenced, a node that lost its membership.",
		func(ctx context.Context, _ none) (report.Events, error) {
			histories, silent, err := c.Histories(ctx)
			return report.EventsOf(histories, silent), err
		})
	read(s, "dead_letters", "The last messages that this node could not deliver, with recipient, type and reason, and how many there were by reason.",
		func(ctx context.Context, in letters) (status.DeadLetters, error) {
			limit := 20
			if in.Limit != nil {
				limit = *in.Limit
			}
			return c.DeadLetters(ctx, in.Reason, in.Recipient, limit)
		})
	read(s, "given_up", "The messages at which instances of singletons have failed too often, and that the nodes have put aside, with the last failure. A message is named by its node and its number.",
		func(ctx context.Context, in one) (report.GivenUp, error) {
			nodes, silent, err := c.GivenUp(ctx)
			return report.GivenUpOf(nodes, silent, in.Name), err
		})
	read(s, "safe", "Whether this node may be restarted now: nothing is wrong, no other member is joining or leaving, and what runs here can run elsewhere.",
		func(ctx context.Context, _ none) (report.Safe, error) {
			return report.AskSafe(ctx, c.Each())
		})
}

func addActions(s *mcp.Server, c *client.Client) {
	change(s, "steer", "Change what a run of a workflow does: cancel or fail it, with its compensations; retry what failed now; or resume it from a step, whose outcome and later ones are forgotten. The reason is stored.",
		func(ctx context.Context, in steering) (steering, error) {
			return in, c.Steer(ctx, in.Type, in.ID, client.Steering{Do: in.Do, Step: in.Step, Who: "a language model", Why: in.Why})
		})
	change(s, "drain", "Make this node leave the cluster: it hands over its singletons, and its actors stop. It cannot be taken back; the program must be started again. Ask safe before.",
		func(ctx context.Context, in leave) (client.Drain, error) {
			wait := time.Minute
			if in.Seconds > 0 {
				wait = time.Duration(in.Seconds * float64(time.Second))
			}
			ctx, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			done, err := c.Drain(ctx, true, func(status.Snapshot) {})
			if errors.Is(err, context.DeadlineExceeded) {
				return done, nil // it goes on leaving, as the outcome says
			}
			return done, err
		})
	change(s, "down", "Take a member down that does not run any more, so that others start what ran there. If it still runs, two instances of a singleton may run at once.",
		func(ctx context.Context, in member) (downed, error) {
			snapshot, err := c.Status(ctx)
			if err == nil {
				err = report.CanBeDowned(snapshot, in.Member)
			}
			if err == nil {
				err = c.Down(ctx, in.Member)
			}
			return downed{in.Member, snapshot.Self.Name}, err
		})
}

func read[In, Out any](s *mcp.Server, name, help string, f func(context.Context, In) (Out, error)) {
	add(s, &mcp.Tool{Name: name, Description: help, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)}}, f)
}

func change[In, Out any](s *mcp.Server, name, help string, f func(context.Context, In) (Out, error)) {
	add(s, &mcp.Tool{Name: name, Description: help, Annotations: &mcp.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(false)}}, f)
}

// The schemas follow from the types of f. An error of f is the result of the call, for the model to
// read.
func add[In, Out any](s *mcp.Server, tool *mcp.Tool, f func(context.Context, In) (Out, error)) {
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		out, err := f(ctx, in)
		return nil, out, err
	})
}
