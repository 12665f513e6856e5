package membership

import (
	"os"
	"runtime/debug"
	"testing"
)

// The heap of a simulation is a few megabytes. With the default of 100 percent it is collected
// hundreds of times a second.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
