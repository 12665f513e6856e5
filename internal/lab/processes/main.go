//go:build unix

package processes

import (
	"fmt"
	"os"
)

// roleEnv makes the test binary play a role, given its arguments.
const roleEnv = "UNDERSTUDY_TEST_PROCESS"

// A Role is the program of a process. It prints one line for each thing that it has done, and ends
// when its standard input ends.
type Role func(args []string) error

// Main plays the role that this process was started for by [Start], and exits; in another
// process it does nothing.
func Main(roles map[string]Role) {
	role := os.Getenv(roleEnv)
	if role == "" {
		return
	}
	if err := roles[role](os.Args[1:]); err != nil {
		Say("failed: %v", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Say prints a line to the process that has started this one. A line that begins with "failed"
// fails its test.
func Say(format string, args ...any) { fmt.Printf(format+"\n", args...) }
