package pgtest

import (
	"sync"
	"testing"
)

var common struct {
	sync.Mutex
	server *Server
}

// Main runs the tests and removes the server of [Shared]. It returns the exit code. A package whose
// tests share a server calls it in TestMain.
func Main(m *testing.M) int {
	defer func() {
		if common.server != nil {
			common.server.remove()
		}
	}()
	return m.Run()
}

// Shared returns the server shared by the tests of a package that do not harm it. The first call
// starts it. The TestMain of the package must call [Main].
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
