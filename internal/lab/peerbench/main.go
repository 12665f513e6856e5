// Command peerbench runs the same scenarios on understudy, on other actor libraries for Go and
// on plain goroutines and channels, and prints tables in Markdown. In its directory:
//
//	go run . [-scenarios regexp] [-libraries regexp] [-rounds 4] [-scale 1] [-quick]
//	         [-goakt dir] [-ergo dir] [-page file]
//
// Each run of a scenario on a library is a process of its own, so that the garbage of one run is
// not collected in another; remote scenarios have a second one. Rounds are interleaved: the
// libraries of a scenario take turns, so that a machine that becomes slower affects all of them.
// The tables have the median of the rounds, the ratio to our figure and, except in a page, the
// minimum and the maximum. A run counts the messages that have arrived, and fails when some are
// missing or arrive out of order.
//
// The module proxy has neither goakt v4 nor ergo. The flags -goakt and -ergo add them, each with
// the directory of their source. Without them, no goal is called reached in a scenario that they
// run.
//
// The module replaces understudy by the checkout that it is in. To measure another one:
// go mod edit -replace github.com/understudy-go/understudy=DIR.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "peerbench:", err)
		os.Exit(1)
	}
}

// command runs the program with args. It writes the tables to out at the end, and a line for each
// run to progress.
func command(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("peerbench", flag.ContinueOnError)
	flags.SetOutput(progress)
	p := plan{args: args, checkouts: map[string]string{}}
	flags.Func("scenarios", "a `regexp` of names of scenarios; the default is all", pattern(&p.scenarios))
	flags.Func("libraries", "a `regexp` of names of libraries; the default is all", pattern(&p.libraries))
	flags.IntVar(&p.rounds, "rounds", 4, "how often each library runs each scenario")
	flags.Float64Var(&p.scale, "scale", 1, "how many times as many operations as usual")
	flags.DurationVar(&p.patience, "timeout", defaultPatience, "how long one run may take")
	flags.StringVar(&p.page, "page", "", "a `file` whose figures are replaced; nothing is printed")
	for library := range checkouts {
		flags.Func(library, "a `directory` with a checkout of "+library+", which then takes part", func(dir string) error {
			p.checkouts[library] = dir
			return nil
		})
	}
	flags.BoolFunc("quick", "-rounds=3 -scale=0.1, except for steady scenarios: minutes", func(string) error {
		p.rounds, p.scale, p.quick = 3, 0.1, true
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; see -help", flags.Arg(0))
	case p.rounds < 1 || p.scale <= 0:
		return errors.New("-rounds and -scale have to be positive")
	}
	return p.compare(ctx, out, progress)
}

func pattern(to **regexp.Regexp) func(string) error {
	return func(s string) (err error) {
		*to, err = regexp.Compile(s)
		return err
	}
}
