package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTagsAreTabledForQueriesAndGoWithTheirEvents(t *testing.T) {
	j := openTest(t)
	claim := appendSome(t, j, "x", 3)
	appendSome(t, j, "y", 1)
	require.Equal(t, []int{3 * 2, 1 * 2}, []int{countTags(t, j, "x"), countTags(t, j, "y")})

	require.NoError(t, j.DeleteTo(t.Context(), "x", claim.Epoch, 2))
	require.Equal(t, []int{1 * 2, 1 * 2}, []int{countTags(t, j, "x"), countTags(t, j, "y")})
	var orphans int
	require.NoError(t, j.readers.QueryRow("SELECT count(*) FROM event_tag WHERE ord NOT IN (SELECT ord FROM event)").Scan(&orphans))
	require.Zero(t, orphans)
}

func countTags(t *testing.T, j *Journal, id string) (n int) {
	t.Helper()
	require.NoError(t, j.readers.QueryRow(
		"SELECT count(*) FROM event_tag JOIN event USING (ord) JOIN entity ON entity.id = eid WHERE pid = ?", id).Scan(&n))
	return n
}

// Deleting must not search all tags of the database for the tags of some events.
func TestTagsAreDeletedByTheirKey(t *testing.T) {
	j := openTest(t)
	rows, err := j.readers.Query("EXPLAIN QUERY PLAN DELETE FROM event_tag WHERE (tag, ord) IN "+
		"(SELECT t.value, e.ord FROM event e, json_each(e.tags) t WHERE e.eid = ? AND e.seq <= ?)", 1, 1)
	require.NoError(t, err)
	defer rows.Close()
	plan := ""
	for rows.Next() {
		var id, parent, unused int
		var detail string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
		plan += detail + "\n"
	}
	require.NoError(t, rows.Err())
	require.Contains(t, plan, "SEARCH event_tag USING PRIMARY KEY (tag=? AND ord=?)")
	require.NotContains(t, plan, "SCAN event_tag")
}
