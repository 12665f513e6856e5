package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/understudy-go/understudy/internal/effort"
)

// lawRow matches a row of the page of heavy laws. It has groups for all but the seconds, the test,
// its file, and what make test and make verify run.
var lawRow = regexp.MustCompile("(?m)^(\\| \\[`(\\w+)`\\]\\(([^)]+)\\) \\| [^|]* \\| ([^|]*) \\| ([^|]*) \\| [^|]* \\|) [^|]* \\|$")

// none in a cell means that the command leaves the test out.
const none = "—"

// measureLaws runs each test of a page alone, and writes its seconds of processor into the page.
func measureLaws(file string) error {
	text, err := os.ReadFile(file) //nolint:gosec // a path that the user gives
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "laws")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binaries := map[string]string{}
	var failed error
	text = lawRow.ReplaceAllFunc(text, func(row []byte) []byte {
		m := lawRow.FindSubmatch(row)
		folder := filepath.Join(filepath.Dir(file), filepath.Dir(string(m[3])))
		race := strings.Contains(string(m[5]), "race")
		key := fmt.Sprint(folder, race)
		if binaries[key] == "" && failed == nil {
			binaries[key] = filepath.Join(dir, fmt.Sprint(len(binaries)))
			failed = compileTests(folder, binaries[key], race)
		}
		if failed != nil {
			return row
		}
		level := "verify"
		if string(m[4]) == none && string(m[5]) == none {
			level = "long"
		}
		spent, err := costOf(folder, binaries[key], string(m[2]), level)
		if err != nil {
			failed = err
			return row
		}
		return fmt.Appendf(nil, "%s %s |", m[1], spent)
	})
	return errors.Join(failed, os.WriteFile(file, text, 0o644)) //nolint:gosec // a page for all to read
}

func compileTests(folder, binary string, race bool) error {
	args := []string{"-C", folder, "test", "-c", "-vet=off", "-o", binary}
	if race {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", args...) //nolint:gosec,noctx // the arguments are ours; an interrupt reaches it
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// costOf runs a test as a command of the Makefile does.
func costOf(folder, binary, test, level string) (string, error) {
	cmd := exec.Command(binary, "-test.run=^"+test+"$") //nolint:gosec,noctx // as above
	cmd.Dir, cmd.Env = folder, append(os.Environ(), effort.Variable+"="+level, "GOGC=800", "GOMEMLIMIT=3GiB")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", test, err, out)
	}
	fmt.Fprintf(os.Stderr, "%6.1f %s\n", cpu(cmd.ProcessState).Seconds(), test)
	return fmt.Sprintf("%.1f", cpu(cmd.ProcessState).Seconds()), nil
}
