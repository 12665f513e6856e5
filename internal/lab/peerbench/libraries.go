package main

import (
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

// A library is one of the compared libraries, with one of its configurations.
type library struct {
	name          string
	program       string   // the directory of the program that runs it
	configuration string   // of that program
	peer          bool     // not ours
	checkout      bool     // it takes part when a flag says where its source is
	only          []string // the scenarios that it runs; nil means all
	without       []string // the scenarios that it does not run
}

// libraries are all libraries that are compared, ours first. The others appear with their default
// configuration, and with the fastest one that their documentation offers.
var libraries = []library{
	{name: "understudy", program: "understudy", configuration: "default"},
	{name: "understudy, context", program: "understudy", configuration: "context", only: asks},
	{name: "understudy, no deadline", program: "understudy", configuration: "no deadline", only: asks},
	{name: "protoactor-go", program: "protoactor", configuration: "default", peer: true, without: slices.Concat([]string{bench.Awake, bench.Million}, named(bench.SingletonPrefix), spread())},
	{name: "protoactor-go, lock-free", program: "protoactor", configuration: "lock-free", peer: true, only: messages},
	{
		name: "hollywood", program: "hollywood", configuration: "default", peer: true,
		without: slices.Concat([]string{"skynet", bench.Million}, clustered(), spread()), // 28 KB for each of a million is more memory than machines have
	},
	{name: "hollywood, large inboxes", program: "hollywood", configuration: "large", peer: true, only: floods},
	{name: "hollywood, small inboxes", program: "hollywood", configuration: "small", peer: true, only: []string{"spawn", "spawn-stop", "idle", "skynet"}},
	{
		name: bench.Goakt, program: bench.Goakt, configuration: "default", peer: true, checkout: true,
		without: slices.Concat([]string{bench.Million}, clustered(), spread()),
	},
	{
		name: bench.Ergo, program: bench.Ergo, configuration: "default", peer: true, checkout: true,
		without: slices.Concat([]string{bench.Million}, clustered(), spread(), named("remote-tell"), sized()), // they arrive out of order
	},
	{
		name: bare, program: "channels", configuration: "default",
		without: append([]string{"remote-tell-10", "remote-tell-1000", bench.Million}, clustered()...), // a frame has no receiver, and a channel 16 KB
	},
	{name: withCodec, program: "channels", configuration: "CBOR", only: sized()},
}

const (
	bare      = "channels"       // goroutines and channels, or bare TCP
	withCodec = "channels, CBOR" // bare TCP with the work of a codec
)

var (
	floods   = []string{"tell-1", "tell-8", "fan-out"}
	asks     = []string{"ask-1", "ask-64", "remote-ask-1", "remote-ask-64"}
	messages = append([]string{"ping-pong-1", "ping-pong-64", "ask-1", "ask-64"}, floods...)
)

// sized returns the scenarios of throughput.
func sized() (names []string) {
	for _, s := range bench.Scenarios {
		if s.Size > 0 {
			names = append(names, s.Name)
		}
	}
	return names
}

// clustered returns the scenarios with entities and singletons. Only understudy and protoactor-go
// run the former, only understudy the latter. The others have no such thing, or none for which a
// program is here.
func clustered() []string { return append(named(bench.EntityWord), named(bench.SingletonPrefix)...) }

// spread returns the scenarios with several processes or connections, for which no program of the
// peers is here.
func spread() []string { return append(named(bench.NodesPrefix), named(bench.ConnectionsPrefix)...) }

// named returns the scenarios whose names contain a word.
func named(word string) (names []string) {
	for _, s := range bench.Scenarios {
		if strings.Contains(s.Name, word) {
			names = append(names, s.Name)
		}
	}
	return names
}

// takesPart reports whether a library runs a scenario.
func (l library) takesPart(scenario string) bool {
	return (l.only == nil || slices.Contains(l.only, scenario)) && !slices.Contains(l.without, scenario)
}
