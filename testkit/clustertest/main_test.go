package clustertest_test

import (
	"os"
	"runtime"
	"testing"
)

// In a bubble the cluster's goroutines mostly wait for each other: a second processor looks
// for work in vain, which costs a quarter more. So the tests have one, unless the environment
// has a GOMAXPROCS.
func TestMain(m *testing.M) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	os.Exit(m.Run())
}
