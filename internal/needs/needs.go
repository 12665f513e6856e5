// Package needs skips or fails tests that cannot run on a machine.
package needs

import (
	"fmt"
	"os"
)

// Variable is an environment variable that is set where everything that tests need is installed, as
// in .ci/run. There a test that cannot run fails.
const Variable = "UNDERSTUDY_REQUIRE_SERVICES"

// A Test is a *testing.T or *testing.B.
type Test interface {
	Helper()
	Fatal(args ...any)
	Skip(args ...any)
}

// Missing ends a test for which the machine lacks something: a program, a privilege, an operating
// system. The text says what, and what to do. The test is skipped, or fails if [Variable] is set.
func Missing(t Test, format string, args ...any) {
	t.Helper()
	what := fmt.Sprintf(format, args...)
	if os.Getenv(Variable) != "" {
		t.Fatal(what + " (" + Variable + " is set)")
	}
	t.Skip(what)
}
