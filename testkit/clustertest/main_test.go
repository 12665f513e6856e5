package clustertest_test

import (
	"os"
	"runtime"
	"testing"
)

// In a bubble the cluster's goroutines mostly wait for each other. A second processor looks for
// work in vain, which costs a quarter more time. The tests therefore use one processor, unless the
// environment sets GOMAXPROCS.
func TestMain(m *testing.M) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	os.Exit(m.Run())
}
