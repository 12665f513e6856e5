//go:build !unix

package pgtest

import (
	"os/exec"
	"testing"

	"github.com/understudy-go/understudy/internal/needs"
)

type account struct{ Uid, Gid uint32 }

func accountOf(t testing.TB) *account {
	t.Helper()
	needs.Missing(t, "tests stop and continue their PostgreSQL servers by signals, which only Unix systems have; run this test there")
	return nil
}

func runAs(*exec.Cmd, *account) {}
