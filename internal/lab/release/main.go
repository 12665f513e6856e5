// Command release tries a release before it is tagged, and sets the version of the next one.
//
//	go -C internal/lab/release run .
//	go -C internal/lab/release run . -set v0.2.0
//	go -C internal/lab/release run . -tags
//	go -C internal/lab/release run . -dirty
//
// The repository has several modules. Inside it, each finds the others through replace directives,
// which have no effect for users. The program therefore does what a user does. It writes the
// published modules of the last commit into a module proxy of files, under the version that the
// nested modules require of each other. Then, outside of the repository and with an empty module
// cache, it makes a module for each program in the folder users, gets the published module with
// go get, builds the program and runs it. None of these modules has a replace directive. A command
// it gets with go install. At last it is a visitor: it runs the example of the README with go run,
// types the guide, and compiles a program that uses the root module for other platforms.
//
// Modules of others come from the module cache of this machine, and from the proxy of the go
// command if they are not there.
//
// With -set, it changes the version that the go.mod files of the repository require of our modules.
// With -tags, it prints the git tags that publish that version, in the order of the requirements.
//
// The program refuses to try a commit from which the working tree differs. With -dirty, it tries
// the files of the working tree as they are, including those that git ignores.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// root is the repository, seen from the folder in which the program runs.
const root = "../../.."

func main() {
	version := flag.String("set", "", "make the modules of the repository require each other at this version")
	tags := flag.Bool("tags", false, "print the tags of the version that the modules require of each other")
	dirty := flag.Bool("dirty", false, "try the files of the working tree, and not the last commit")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *version, *tags, *dirty); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, version string, tags, dirty bool) error {
	modules, err := Load(root)
	if err != nil {
		return err
	}
	if version != "" {
		return SetVersion(modules, version)
	}
	if problems := Problems(modules); len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	if tags {
		for _, m := range Published(modules) {
			fmt.Println(m.Tag(Version(modules)))
		}
		return nil
	}
	dir, err := os.MkdirTemp("", "understudy-release")
	if err != nil {
		return err
	}
	defer removeAll(dir)
	if !dirty {
		head := filepath.Join(dir, "head")
		if err := Checkout(ctx, root, head); err != nil {
			return err
		}
		if modules, err = Load(head); err != nil {
			return err
		}
	}
	return try(ctx, dir, modules)
}

// try gets, builds and runs the program of each published module, in the folder dir.
func try(ctx context.Context, dir string, modules []Module) error {
	version := Version(modules)
	for _, m := range Published(modules) {
		if err := WriteProxy(filepath.Join(dir, "proxy"), m, version); err != nil {
			return err
		}
	}
	users, err := newUsers(ctx, dir, version)
	if err != nil {
		return err
	}
	for _, m := range Published(modules) {
		attempt := users.try
		switch {
		case m.Command():
			attempt = users.install
		case !m.HasUser():
			continue
		}
		began := time.Now()
		answer, err := attempt(ctx, m)
		if err != nil {
			return fmt.Errorf("%s@%s: %w", m.Path(), version, err)
		}
		first, _, _ := strings.Cut(answer, "\n")
		fmt.Printf("%s@%s (%.1f s): %s\n", m.Path(), version, time.Since(began).Seconds(), first)
	}
	return users.visit(ctx)
}

// removeAll removes a folder with a module cache, whose files are read-only.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700) //nolint:gosec // a folder needs x
		}
		return err
	})
	_ = os.RemoveAll(dir)
}
