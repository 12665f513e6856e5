// Package bench is what the programs of peerbench share: the scenarios, and how they are measured.
package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Main does the one run that the program was started for, and prints its result as JSON. The
// one argument is scenario/configuration/operations; configurations are those of a library.
func Main(configurations map[string]Contender) {
	if err := command(configurations, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func command(configurations map[string]Contender, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("one argument is needed, scenario/configuration/operations; this program is for peerbench to run")
	}
	fields := strings.Split(args[0], "/")
	if len(fields) < 3 {
		return fmt.Errorf("%q is not scenario/configuration/operations", args[0])
	}
	if fields[0] == load {
		return beLoad()
	}
	if c := configurations[fields[1]]; c != nil && slices.Contains(servers, fields[0]) {
		return serveRun(fields[0], c, fields[2:])
	}
	n, err := strconv.Atoi(fields[2])
	if err != nil {
		return err
	}
	s, c := scenario(fields[0]), configurations[fields[1]]
	if s == nil || c == nil || n < 1 {
		return fmt.Errorf("%q: no such scenario or configuration", args[0])
	}
	r := &Run{N: n, configuration: fields[1], apart: s.apart}
	if s.loaded {
		defer startLoad()()
	}
	s.run(c, r)
	r.endOthers()
	return json.NewEncoder(os.Stdout).Encode(r.result)
}
