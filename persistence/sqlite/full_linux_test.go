package sqlite

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestAFullDiskLosesNothingAndIsSurvivedInPlace(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		needs.Missing(t, "to mount a small disk needs root, in a container with CAP_SYS_ADMIN: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	ballast := filepath.Join(dir, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 1<<20), 0o600))

	j := openPath(t, filepath.Join(dir, "journal.db"))
	claim := appendSome(t, j, "x", 1)
	next := func() journal.AppendRequest {
		req := some("x", claim.Epoch, claim.LastSeq, 1)
		req.Records[0].Payload = make([]byte, 10_000)
		return req
	}
	claim.LastSeq = 1
	var err error
	for err == nil {
		if err = j.Append(t.Context(), []journal.AppendRequest{next()})[0]; err == nil {
			claim.LastSeq++
		}
	}
	require.ErrorIs(t, err, journal.ErrFull)
	require.ErrorContains(t, err, "make space")
	for err = nil; err == nil; { // a claim needs less space, but some
		var newer journal.Claim
		if newer, err = j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{}); err == nil {
			claim = newer
		}
	}
	require.ErrorIs(t, err, journal.ErrFull)
	got, err := readAll(t, j, "x")
	require.NoError(t, err)
	require.Len(t, got, int(claim.LastSeq))

	require.NoError(t, os.Remove(ballast))
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{next()})[0])
	got, err = readAll(t, j, "x")
	require.NoError(t, err)
	require.Len(t, got, int(claim.LastSeq)+1)
}
