package pgtest

import (
	"sync"
	"testing"
)

// common is the server of the tests that do not harm it.
var common struct {
	sync.Mutex
	server *Server
}

// Main runs the tests and removes the server of [Shared]. It returns the exit code of the
// program: a package whose tests share a server calls it in TestMain.
func Main(m *testing.M) int {
	defer func() {
		if common.server != nil {
			common.server.remove()
		}
	}()
	return m.Run()
}

// Shared returns the server of those tests of this package that do not harm it, and starts
// it for the first of them. The package must have [Main] in its TestMain.
func Shared(t testing.TB) *Server {
	t.Helper()
	common.Lock()
	defer common.Unlock()
	if common.server == nil {
		s := create(t)
		common.server = s // even if it does not start
		s.Run(t)
	}
	return common.server
}
