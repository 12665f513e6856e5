//go:build !race

package cron_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/cron"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// What was due since the backup was missed; a run that took place after it may run again, under the
// same id.
func TestAJournalRestoredFromABackupOfAnHourBefore(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		open := func(name string) *sqlite.Journal {
			j, err := sqlite.Open(filepath.Join(dir, name))
			require.NoError(t, err)
			return j
		}
		b, e := new(logbook), cron.Entry{Name: "quarters", Job: "note", Spec: "*/15 * * * *", Missed: cron.All(3)}
		run := func(j *sqlite.Journal, d time.Duration, meanwhile func()) {
			t.Helper()
			s := on(t, j)
			_, err := cron.Start(s, cron.Config{Jobs: map[string]cron.Job{"note": b.job()}, Entries: []cron.Entry{e}})
			require.NoError(t, err)
			meanwhile()
			time.Sleep(d)
			require.NoError(t, s.Shutdown(t.Context()))
			require.NoError(t, j.Close())
		}
		run(open("live.db"), 2*time.Hour+time.Minute, func() {
			time.AfterFunc(time.Hour+time.Minute, func() { copyTo(t, filepath.Join(dir, "live.db"), filepath.Join(dir, "backup.db")) })
		})
		require.Equal(t, []string{"00:15", "00:30", "00:45", "01:00", "01:15", "01:30", "01:45", "02:00"}, b.due("15:04"))
		b.clear()
		run(open("backup.db"), 15*time.Minute, func() {})
		require.Equal(t, []string{"01:30", "01:45", "02:00", "02:15"}, b.due("15:04"))
	})
}

// copyTo makes a backup of an open database.
func copyTo(t *testing.T, from, to string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+from)
	if err == nil {
		defer db.Close()
		_, err = db.ExecContext(t.Context(), "VACUUM INTO ?", to)
	}
	if err != nil {
		t.Error(err)
	}
}
