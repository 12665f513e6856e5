package sqlite

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// continueHolder sends SIGCONT to the process that holds the lock on file, if a signal has
// stopped it. The process must be visible in /proc, and this one must have the right to signal
// it; otherwise nothing happens.
func continueHolder(file *os.File) {
	info, err := file.Stat()
	if err != nil {
		return
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	for _, pid := range flockHolders(stat.Ino) {
		if isStopped(pid) && hasOpen(pid, info) {
			_ = syscall.Kill(pid, syscall.SIGCONT) // without the right to signal it, the writer keeps waiting
		}
	}
}

// flockHolders returns the processes that hold a flock lock on a file with the inode number, on
// any device.
func flockHolders(inode uint64) (pids []int) {
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF; waiting ones have "->" behind the number
		f := strings.Fields(lines.Text())
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], ":"+strconv.FormatUint(inode, 10)) {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isStopped reports whether a signal, and not a debugger, has stopped the process.
func isStopped(pid int) bool {
	text, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return false
	}
	// 1234 (name, which may contain anything) T ...
	_, rest, ok := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
	return ok && bytes.HasPrefix(rest, []byte("T "))
}

func hasOpen(pid int, file os.FileInfo) bool {
	entries, err := os.ReadDir(procPath(pid, "fd"))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if other, err := os.Stat(procPath(pid, "fd/"+e.Name())); err == nil && os.SameFile(file, other) {
			return true
		}
	}
	return false
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }
