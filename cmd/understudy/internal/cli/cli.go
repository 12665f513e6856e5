// Package cli is the command understudy without its process.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
	"github.com/understudy-go/understudy/cmd/understudy/internal/tools"
)

// An Env is what a process gives the command.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Terminal       bool // Stdin is a terminal
}

const (
	fine  = 0
	wrong = 1 // something is wrong with the cluster, or could not be done
	usage = 2
)

// errUsage has been reported.
var errUsage = errors.New("usage")

// A lineError is one of a wrong command line, which was not reported yet.
type lineError struct{ error }

func (e lineError) Unwrap() error { return e.error }

type verb struct {
	name, args, help string
	flags            func(*flag.FlagSet, *options)
	most             int
	run              func(ctx context.Context, c *command) (code int, err error)
}

type command struct {
	Env
	options
	args   []string
	given  map[string]bool // flags
	client *client.Client
}

var verbs = []verb{
	{name: "status", help: "the cluster in a few lines", run: showStatus},
	{name: "why", args: "[NAME]", most: 1, help: "what is wrong or does not move at all nodes at -url, and why; exit code 1 if anything is", run: showWhy},
	{name: "members", help: "the members, the oldest first", run: showMembers},
	{name: "singletons", args: "[NAME]", most: 1, help: "the singletons: hosts, starts, failures", run: showSingletons},
	{name: "entities", args: "[TYPE]", most: 1, help: "the types of entities that the node has started, with the homes of their shards", run: showEntities},
	{name: "entity", args: "TYPE/ID", most: 1, help: "what an entity, or singleton/NAME, has stored: its state, now or then, and its last events", flags: entityFlags, run: showEntity},
	{name: "rehearse", help: "try a new build of a program, and the way back, on a copy of its journal; exit code 1 if anything would break", flags: rehearseFlags, run: tryUpgrade},
	{name: "schedules", args: "[NAME]", most: 1, help: "the schedules that the node has started, with the entries of those that it hosts", run: showSchedules},
	{name: "runs", args: "TYPE[/ID]", most: 1, help: "the runs of a type of workflows, or one with its steps", flags: runFlags, run: showRuns},
	{name: "steer", args: "TYPE/ID", most: 1, help: "cancel, fail, retry or resume a run of a workflow", flags: steerFlags, run: steer},
	{name: "projections", args: "[NAME]", most: 1, help: "the projections that the nodes at -url run, with the ids whose events they hold back, and why", run: showProjections},
	{name: "events", help: "what all nodes at -url have decided and noticed, and why, the newest last", run: showEvents},
	{name: "dead-letters", help: "the last messages that the node could not deliver", flags: letterFlags, run: showDeadLetters},
	{name: "given-up", args: "[SINGLETON]", most: 1, help: "the messages at which singletons have failed, and that the nodes at -url have put aside", run: showGivenUp},
	{name: "resend", args: "NUMBER", most: 1, help: "send a message again that the node has put aside, or the message of a dead letter, such as d17", run: resend},
	{name: "discard", args: "NUMBER", most: 1, help: "forget a message that the node has put aside, or the message of a dead letter", run: discard},
	{name: "retry", args: "PROJECTION", most: 1, help: "let a projection try again the events that it holds back; exit code 1 if it still holds any", run: retry},
	{name: "safe", help: "whether the first node at -url may be restarted now, as all of them see it; exit code 1 if not", run: showSafe},
	{name: "drain", help: "make the node leave, and wait until it has", flags: drainFlags, run: drain},
	{name: "down", args: "MEMBER", most: 1, help: "take a member down that is gone for good", flags: downFlags, run: down},
	{name: "mcp", help: "serve the same as tools of an MCP server, on standard input and output", flags: mcpFlags, run: serveTools},
}

// Run runs the command with the arguments of a process, and returns its exit code.
func Run(ctx context.Context, env Env, args []string) int {
	if len(args) == 0 {
		printHelp(env.Stderr)
		return usage
	}
	args, err := verbFirst(env, args)
	if err != nil {
		return usage
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		printHelp(env.Stdout)
		return fine
	}
	if args[0] == "version" {
		_, err := fmt.Fprintln(env.Stdout, "understudy", version())
		return exit(env, fine, err)
	}
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == args[0] })
	if i < 0 {
		_, _ = fmt.Fprintf(env.Stderr, "understudy: there is no command %q; understudy help lists them\n", args[0])
		return usage
	}
	return verbs[i].start(ctx, env, args[1:])
}

func verbFirst(env Env, args []string) ([]string, error) {
	if !strings.HasPrefix(args[0], "-") {
		return args, nil
	}
	set, o := flag.NewFlagSet("understudy", flag.ContinueOnError), new(options)
	set.SetOutput(env.Stderr)
	set.Usage = func() {}
	o.register(set, env.Getenv)
	for _, v := range verbs {
		if v.flags != nil {
			v.flags(set, o)
		}
	}
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return []string{"help"}, nil
	case err != nil:
		return nil, err // it has been reported
	}
	rest := set.Args()
	if len(rest) == 0 {
		_, _ = fmt.Fprintln(env.Stderr, "understudy: name a command after the flags; understudy help lists them")
		return nil, errUsage
	}
	before := args[:len(args)-len(rest)]
	return slices.Concat(rest[:1], slices.DeleteFunc(slices.Clone(before), func(a string) bool { return a == "--" }), rest[1:]), nil
}

func (v verb) start(ctx context.Context, env Env, args []string) int {
	c := &command{Env: env}
	err := v.parse(c, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return fine
	case errors.Is(err, errUsage):
		return usage
	}
	if err == nil {
		c.client, err = c.connect()
	}
	if err != nil {
		_, _ = fmt.Fprintln(env.Stderr, "understudy:", printable(err.Error()))
		return usage
	}
	code, err := v.run(ctx, c)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return exit(env, code, err)
}

func exit(env Env, code int, err error) int {
	switch {
	case errors.Is(err, errUsage):
		return usage
	case err != nil:
		_, _ = fmt.Fprintln(env.Stderr, "understudy:", printable(err.Error()))
		if _, is := errors.AsType[lineError](err); is || errors.Is(err, client.ErrSeveral) {
			return usage
		}
		return wrong
	}
	return code
}

func (v verb) needs() bool { return v.args != "" && !strings.HasPrefix(v.args, "[") }

// Flags may come before and after the arguments.
func (v verb) parse(c *command, args []string) error {
	set := flag.NewFlagSet(v.name, flag.ContinueOnError)
	set.SetOutput(c.Stderr)
	set.Usage = func() {
		_, _ = fmt.Fprintf(c.Stderr, "understudy %s: %s\n\n", strings.TrimSpace(v.name+" [flags] "+v.args), v.help)
		set.PrintDefaults()
	}
	c.register(set, c.Getenv)
	if v.flags != nil {
		v.flags(set, &c.options)
	}
	for {
		if err := set.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return err
			}
			return errUsage
		}
		if args = set.Args(); len(args) == 0 {
			break
		}
		c.args = append(c.args, args[0])
		args = args[1:]
	}
	c.given = map[string]bool{}
	set.Visit(func(f *flag.Flag) { c.given[f.Name] = true })
	if len(c.args) > v.most || v.needs() && len(c.args) == 0 {
		_, _ = fmt.Fprintf(c.Stderr, "understudy: say: understudy %s\n", strings.TrimSpace(v.name+" [flags] "+v.args))
		return errUsage
	}
	return nil
}

func (c *command) arg() string { return strings.Join(c.args, "") }

func (c *command) print(v any, text func(w io.Writer) error) error {
	if !c.json {
		return text(c.Stdout)
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.Stdout, escaped(b))
	return err
}

func serveTools(ctx context.Context, c *command) (int, error) {
	return fine, tools.Serve(ctx, tools.New(c.client, c.actions, version()), c.Stdin, c.Stdout)
}
