package cli

import (
	"errors"
	"flag"
	"net/http"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
)

const defaultURL = "http://127.0.0.1:8080/cluster/"

// Each command has those of the first block, and some have others.
type options struct {
	urls    string
	json    bool
	header  http.Header
	ca      string
	user    string
	timeout time.Duration

	reason, recipient string
	state, tag        string // of runs
	do, step, why     string // of a run that is steered
	limit             int
	noWait, yes       bool
	within            time.Duration
	actions           bool
	at, since         string
	events            int

	program, journal, old, now string
	ids, accept                []string
	sample                     int

	roll, load, page string
	nodes            int
	settle           time.Duration
}

func (o *options) register(set *flag.FlagSet, getenv func(string) string) {
	o.header = http.Header{}
	o.urls, o.user = getenv("UNDERSTUDY_URL"), getenv("UNDERSTUDY_BASIC")
	if o.urls == "" {
		o.urls = defaultURL
	}
	set.StringVar(&o.urls, "url", o.urls, "where the program serves node.Handler(); several `URLs` with commas between them")
	set.BoolVar(&o.json, "json", false, "print JSON")
	set.Func("header", "send a header, `'Name: value'`, with each request; may be repeated", func(text string) error {
		name, value, ok := strings.Cut(text, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return errors.New("say 'Name: value'")
		}
		o.header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		return nil
	})
	set.StringVar(&o.ca, "ca", "", "a `file` with certificates that https trusts")
	set.DurationVar(&o.timeout, "request-timeout", 10*time.Second, "how long one request may take")
}

func letterFlags(set *flag.FlagSet, o *options) {
	set.StringVar(&o.reason, "reason", "", "only those with exactly this `reason`")
	set.StringVar(&o.recipient, "recipient", "", "only those whose recipient contains this `text`")
	limitFlag(set, o)
}

// Two commands have the flag, and all flags may be in one set.
func limitFlag(set *flag.FlagSet, o *options) {
	if set.Lookup("limit") == nil {
		set.IntVar(&o.limit, "limit", 20, "how many at most; -1 for all dead letters")
	}
}

func entityFlags(set *flag.FlagSet, o *options) {
	set.StringVar(&o.at, "at", "", "the state after the event of this number, or of this `time`, such as 2026-11-30T12:00:00Z")
	set.IntVar(&o.events, "events", 0, "list the last `N` events, too")
	set.StringVar(&o.since, "diff", "", "say what has changed since the event of this `number`")
	offlineFlags(set, o)
}

func offlineFlags(set *flag.FlagSet, o *options) {
	set.StringVar(&o.program, "program", "", "ask no node: let this `file`, a program that calls rehearsal.Serve, read -journal")
	journalFlag(set, o)
}

// Two commands have the flag, and all flags may be in one set.
func journalFlag(set *flag.FlagSet, o *options) {
	if set.Lookup("journal") == nil {
		set.StringVar(&o.journal, "journal", "", "the `file` of a journal, which is copied, or the URL of a copy")
	}
}

func rehearseFlags(set *flag.FlagSet, o *options) {
	set.StringVar(&o.old, "old", "", "the `file` of the build that runs today")
	set.StringVar(&o.now, "new", "", "the `file` of the build that is to replace it")
	journalFlag(set, o)
	set.IntVar(&o.sample, "sample", 0, "try only `N` ids; 0 for all")
	set.Func("id", "try only this `id`; may be repeated", func(id string) error { o.ids = append(o.ids, id); return nil })
	set.Func("accept", "the `key` of a finding that is no problem; may be repeated", func(key string) error { o.accept = append(o.accept, key); return nil })
	rollFlags(set, o)
}

func rollFlags(set *flag.FlagSet, o *options) {
	set.StringVar(&o.roll, "roll", "", "update a cluster and roll it back, too: the `line` that starts a node, such as 'SHOP_BIND={node} SHOP_SEEDS={seeds} {program} -http {http} -journal {journal}'")
	set.StringVar(&o.load, "load", "", "what keeps the nodes of -roll busy: a `request` such as 'PUT http://{http}/orders/{n}', or a command that runs until SIGTERM")
	set.StringVar(&o.page, "page", "http://{http}/cluster/", "the `URL` at which a node of -roll serves node.Handler()")
	set.IntVar(&o.nodes, "nodes", 3, "how many nodes -roll starts")
	set.DurationVar(&o.settle, "settle", time.Minute, "how long a node of -roll may take to stop, and the cluster to settle after each step")
	yesFlag(set, o)
}

// Two commands have the flag.
func yesFlag(set *flag.FlagSet, o *options) {
	if set.Lookup("yes") == nil {
		set.BoolVar(&o.yes, "yes", false, "do not ask for confirmation")
	}
}

func drainFlags(set *flag.FlagSet, o *options) {
	set.BoolVar(&o.noWait, "no-wait", false, "do not wait until the node has left")
	set.DurationVar(&o.within, "timeout", 5*time.Minute, "how long to wait until the node has left")
}

func downFlags(set *flag.FlagSet, o *options) {
	yesFlag(set, o)
}

func mcpFlags(set *flag.FlagSet, o *options) {
	set.BoolVar(&o.actions, "actions", false, "offer tools that change the cluster, too")
}

func (o *options) connect() (*client.Client, error) {
	if o.timeout <= 0 {
		return nil, errors.New("-request-timeout must be positive")
	}
	return client.New(client.Config{URLs: strings.Split(o.urls, ","), Header: o.header, User: o.user, CA: o.ca, Timeout: o.timeout})
}
