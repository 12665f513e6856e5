package sqlite

import (
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/understudy-go/understudy/persistence/journal"
)

// networkFileSystems are the file systems that several machines share, by their magic numbers from
// statfs(2). FUSE is not in the list, because it does not reveal the underlying file system.
var networkFileSystems = map[uint32]string{
	0x6969:     "NFS",
	0xff534d42: "CIFS",
	0xfe534d42: "SMB",
	0x517b:     "SMB",
	0x5346414f: "AFS",
	0x6b414653: "AFS",
	0x73757245: "Coda",
	0x00c36400: "Ceph",
	0x0bd00bd0: "Lustre",
	0x564c:     "NCP",
	0x01161970: "GFS2",
	0x7461636f: "OCFS2",
	0x47504653: "GPFS",
	0x20030528: "OrangeFS",
}

// checkFileSystem refuses a database on a file system where its locks, or the memory that
// its processes share, cannot be relied on.
func checkFileSystem(path string) error {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &stat); err != nil {
		return nil //nolint:nilerr // opening the path gives a better error
	}
	return judgeFileSystem(uint32(stat.Type)) //nolint:gosec // magic numbers have 32 bits; some systems extend the sign
}

func judgeFileSystem(magic uint32) error {
	name, is := networkFileSystems[magic]
	if !is {
		return nil
	}
	return fmt.Errorf("%w: it is on a network file system (%s), where locks and shared memory do not work between machines; "+
		"take a local disk, or a journal with a server", journal.ErrUnavailable, name)
}
