package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Checkout writes the files of the last commit of the repository at root into the new folder dir.
// They do not include files that git ignores. It fails if the working tree differs, because a tag
// would then publish something else than the caller sees.
func Checkout(ctx context.Context, root, dir string) error {
	changed, err := output(ctx, root, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the working tree differs from the last commit: commit or remove these files, or try the working tree with -dirty\n%s", changed)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	archive := filepath.Join(dir, "head.tar")
	if _, err := output(ctx, root, "git", "archive", "--format=tar", "-o", archive, "HEAD"); err != nil {
		return err
	}
	if _, err := output(ctx, dir, "tar", "-x", "-f", archive); err != nil {
		return err
	}
	return os.Remove(archive)
}

// output runs a command in the folder dir, and returns what it prints.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	return outputOf(cmd)
}

// outputOf runs a command, and returns what it prints.
func outputOf(cmd *exec.Cmd) (string, error) {
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, failure.String())
	}
	return string(out), nil
}
