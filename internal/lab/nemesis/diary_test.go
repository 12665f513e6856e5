//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADiaryIsReadUpToItsTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n1.1.trips")
	d, err := openDiary(path, "n1.1")
	require.NoError(t, err)
	by, err := d.begins(Execution{Run: "t1", Step: "book 0", Token: 7})
	require.NoError(t, err)
	require.Equal(t, "n1.1/1", by)
	d.told("t1", Booking{"book 0", 3, by})
	require.NoError(t, d.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	all := readDiary(strings.NewReader(string(text) + `{"At":1,"Run":"t2`))
	require.Len(t, all, 2)
	require.LessOrEqual(t, all[0].At, all[1].At)
	all[0].At, all[1].At = 0, 0
	require.Equal(t, []Execution{
		{Run: "t1", Step: "book 0", Token: 7, By: by}, {Run: "t1", Step: "book 0", By: by, Told: true, Effect: 3},
	}, all)
}
