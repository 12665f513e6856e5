//go:build unix

package processes

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/persistence"
)

// The lines of [Migrator].
const (
	waiting  = "waiting"
	migrated = "migrated"
	found    = "found"
)

// Migrator returns the role of the processes of [Migrate]. open opens the journal at a place with a
// log. It waits for a line, opens the journal, claims its persistence id, and prints whether it has
// migrated the journal. Then it appends an event for each line.
func Migrator(open func(place []string, log *zap.Logger) (persistence.Journal, error)) Role {
	return func(args []string) error {
		place, id := args[:len(args)-1], args[len(args)-1]
		in := bufio.NewScanner(os.Stdin)
		Say(waiting)
		if !in.Scan() {
			return in.Err()
		}
		core, logged := observer.New(zap.InfoLevel)
		j, err := open(place, zap.New(core))
		if err != nil {
			return err
		}
		return errors.Join(useMigrated(j, id, logged.FilterMessage("journal migrated").Len(), in), j.Close())
	}
}

func useMigrated(j persistence.Journal, id string, migrations int, in *bufio.Scanner) error {
	o, err := own(j, id)
	if err != nil {
		return err
	}
	switch migrations {
	case 0:
		Say(found)
	case 1:
		Say(migrated)
	default:
		return fmt.Errorf("%d migrations were logged", migrations)
	}
	return o.appendPerLine(in)
}

// Migrate tests that n processes can open a journal of an older version at the same moment. One of
// them migrates it, and all of them can write to it. Each is started by start, with the role
// "migrate", which is a [Migrator], and a persistence id of its own. While all of them have the
// journal open, and before they append, Migrate calls check.
func Migrate(t *testing.T, n int, start func(role, id string) *Child, check func()) {
	t.Helper()
	all := make([]*Child, n)
	for i := range all {
		all[i] = start("migrate", fmt.Sprint("process ", i))
	}
	for _, c := range all {
		require.Equal(t, waiting, c.Line())
	}
	for _, c := range all {
		c.Ask()
	}
	said := map[string]int{}
	for _, c := range all {
		said[c.Line()]++
	}
	require.Equal(t, map[string]int{migrated: 1, found: n - 1}, said)
	check()
	for _, c := range all {
		c.Ask()
	}
	for _, c := range all {
		require.Regexp(t, `^1 of \d+$`, c.Line())
		require.Empty(t, c.Finish())
	}
}
