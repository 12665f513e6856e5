package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settings are the values of the flags.
type settings struct {
	rounds  int
	rate    int
	hold    time.Duration
	names   string
	quick   bool
	logs    bool
	page    string
	kubeapi string
}

func parse() settings {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 1, "how often each fault happens to each opponent")
	flag.IntVar(&s.rate, "rate", 100, "requests per second")
	flag.DurationVar(&s.hold, "hold", 20*time.Second, "how long the leader is paused, and cut from the network")
	flag.StringVar(&s.names, "opponents", allNames(), "which opponents play, in this order")
	flag.BoolVar(&s.quick, "quick", false, "only SIGKILL; unless -opponents says otherwise, only lock and understudy: half a minute")
	flag.BoolVar(&s.logs, "logs", false, "keep what the nodes print")
	flag.StringVar(&s.page, "page", "", "a page in Markdown in which the figures are replaced; the plot is written beside it")
	flag.StringVar(&s.kubeapi, "kubeapi", defaultKubeAPI(), "path of the API server that make test-kubernetes builds")
	flag.Parse()
	if s.quick && s.names == allNames() {
		s.names = "lock,understudy"
	}
	return s
}

func allNames() string {
	var names []string
	for _, o := range opponents {
		names = append(names, o.name)
	}
	return strings.Join(names, ",")
}

func (s settings) validate() error {
	if s.rounds < 1 || s.rate < 1 || s.hold < 0 {
		return fmt.Errorf("-rounds %d, -rate %d, -hold %v: they must be positive", s.rounds, s.rate, s.hold)
	}
	for name := range strings.SplitSeq(s.names, ",") {
		if !slices.ContainsFunc(opponents, func(o opponent) bool { return o.name == name }) {
			return fmt.Errorf("-opponents: there is no %q; there are %s", name, allNames())
		}
	}
	return nil
}

// opponents returns those that play.
func (s settings) opponents() (playing []opponent) {
	for name := range strings.SplitSeq(s.names, ",") {
		for _, o := range opponents {
			if o.name == name {
				playing = append(playing, o)
			}
		}
	}
	return playing
}

// plays reports whether an opponent with that ledger plays.
func (s settings) plays(ledger string) bool {
	return slices.ContainsFunc(s.opponents(), func(o opponent) bool { return o.ledger == ledger })
}

// faults returns the faults of a round.
func (s *stage) faults() (all []fault) {
	for _, f := range faults {
		if f.network && s.network == nil || s.quick && f.name != "SIGKILL" {
			continue
		}
		all = append(all, f)
	}
	return all
}
