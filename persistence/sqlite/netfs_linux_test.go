package sqlite

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestANetworkFileSystemIsRefusedByName(t *testing.T) {
	for magic, name := range map[uint32]string{0x6969: "NFS", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x00c36400: "Ceph"} {
		err := judgeFileSystem(magic)
		require.ErrorIs(t, err, journal.ErrUnavailable)
		require.ErrorContains(t, err, "network file system ("+name+")")
		require.ErrorContains(t, err, "take a local disk, or a journal with a server")
	}
	for name, magic := range map[string]uint32{"ext4": 0xef53, "tmpfs": 0x01021994, "xfs": 0x58465342, "btrfs": 0x9123683e, "overlay": 0x794c7630} {
		require.NoError(t, judgeFileSystem(magic), name)
	}
	require.NoError(t, checkFileSystem(filepath.Join(t.TempDir(), "journal.db")))
}

// Root writes to files that are marked read-only, but not to a file system that is.
func TestAReadOnlyFileSystemIsAnErrorThatSaysSo(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		needs.Missing(t, "to mount a disk needs root, in a container with CAP_SYS_ADMIN: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	path := filepath.Join(dir, "journal.db")
	j := openPath(t, path)
	appendSome(t, j, "x", 3)
	require.NoError(t, j.Close())
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=4m"))

	_, err := Open(path)
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorContains(t, err, "it must be a file that this process may read and write")
	_, err = Open(filepath.Join(dir, "new.db"))
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorContains(t, err, "read-only file system")
}
