// Package needs ends tests that cannot run on a machine.
package needs

import (
	"fmt"
	"os"
)

// Variable is set where everything that tests need is installed and allowed, as .ci/run does:
// there a test that cannot run fails.
const Variable = "UNDERSTUDY_REQUIRE_SERVICES"

// A Test is what package testing gives to tests and benchmarks.
type Test interface {
	Helper()
	Fatal(args ...any)
	Skip(args ...any)
}

// Missing ends a test for which the machine lacks something: a program, a privilege, an
// operating system. The text says what, and what to do. The test is skipped, or fails when
// [Variable] is set.
func Missing(t Test, format string, args ...any) {
	t.Helper()
	what := fmt.Sprintf(format, args...)
	if os.Getenv(Variable) != "" {
		t.Fatal(what + " (" + Variable + " is set)")
	}
	t.Skip(what)
}
