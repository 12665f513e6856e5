package postgres_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence/postgres"
)

const failoverSchema = "understudy_failover"

// The program of examples/failover on a server, twice in one database. Killed hosts lose nothing,
// and the events of one run do not affect the next.
func TestTheFailoverExampleKeepsItsBooksInPostgreSQL(t *testing.T) {
	s := pgtest.Shared(t)
	program := filepath.Join(t.TempDir(), "failover")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./failover").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, args := range [][]string{{}, {"-pause"}} {
		out, err := exec.CommandContext(t.Context(), program, append(args, "-journal", s.URL())...).CombinedOutput()
		t.Logf("\n%s", out)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		require.Regexp(t, `^\d+ increments acknowledged, each in the final state exactly once; \d+ counted in all: ok$`, lines[len(lines)-1])
		mustWriteAsHosts(t, s, string(out))
	}
	require.Equal(t, "2", s.SQL(t, "SELECT count(*) FROM "+failoverSchema+".understudy_entity"))
}

var (
	failoverID         = regexp.MustCompile(`(?m)^what is counted stays there, as (.*)$`)
	failoverGeneration = regexp.MustCompile(`, generation ([\d.]+)`)
)

// mustWriteAsHosts requires that the epochs of a run's events are the generations of its hosts: the
// first host, and the hosts after two faults and a departure.
func mustWriteAsHosts(t *testing.T, s *pgtest.Server, output string) {
	t.Helper()
	id := failoverID.FindStringSubmatch(output)
	require.NotNil(t, id)
	hosts := map[string]bool{}
	for _, host := range failoverGeneration.FindAllStringSubmatch(output, -1) {
		hosts[host[1]] = true
	}
	writers := map[string]bool{}
	j, err := postgres.Open(t.Context(), s.URL(), postgres.Schema(failoverSchema))
	require.NoError(t, err)
	defer j.Close()
	for r, err := range j.Read(t.Context(), id[1], 1, 1<<63) {
		require.NoError(t, err)
		writers[tenure.Unpack(r.Epoch).String()] = true
	}
	require.Subset(t, hosts, writers)
	require.GreaterOrEqual(t, len(writers), 4)
}
