// Package effort says how much work a test does: little in make test, more in make verify, most in
// make long.
//
// The test cache of the go command knows the variable, so that a package whose tests have passed at
// one level is not tested again at that level until it changes.
package effort

import (
	"fmt"
	"os"
	"strconv"

	"github.com/understudy-go/understudy/internal/needs"
)

// Variable is the environment variable that chooses the level: test, verify or long. Unset means
// test. A number also means long, and is what [Count] returns.
const Variable = "UNDERSTUDY_EFFORT"

// Reasons with which tests are skipped. make test counts those that it leaves to make verify.
const (
	leftToVerify = "left to make verify"
	leftToLong   = "left to make long"
)

// Of returns the first of three values in make test, the second in make verify, and the third in
// make long. It panics if the variable has another value.
func Of[T any](test, verify, long T) T {
	switch value := os.Getenv(Variable); value {
	case "", "test":
		return test
	case "verify":
		return verify
	case "long":
		return long
	default:
		if _, err := strconv.Atoi(value); err != nil {
			panic(fmt.Sprintf("%s is %q: set it to test, verify, long or a number", Variable, value))
		}
		return long
	}
}

// Count is Of for how many histories, pairs or schedules a test draws at random. The variable may
// also state this number.
func Count[N int | uint64 | float64](test, verify, long N) N {
	if n, err := strconv.Atoi(os.Getenv(Variable)); err == nil {
		return N(n)
	}
	return Of(test, verify, long)
}

// Verify skips a test in make test.
func Verify(t needs.Test) {
	t.Helper()
	if !Of(false, true, true) {
		t.Skip(leftToVerify)
	}
}

// Unraced skips a test under the race detector, which would multiply its time. make test or make
// verify runs its package without.
func Unraced(t needs.Test) {
	t.Helper()
	if Raced {
		t.Skip("too long with the race detector")
	}
}

// Long skips a test in make test and in make verify.
func Long(t needs.Test) {
	t.Helper()
	if !Of(false, false, true) {
		t.Skip(leftToLong)
	}
}
