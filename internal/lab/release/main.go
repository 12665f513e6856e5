// Command release tries a release before it is tagged, sets the version of the next one, and says
// what a release is made of.
//
//	go -C internal/lab/release run .
//	go -C internal/lab/release run . -set v0.2.0
//	go -C internal/lab/release run . -tags
//	go -C internal/lab/release run . -dirty
//	go -C internal/lab/release run . -dist /tmp/dist -key ~/.ssh/release
//	go -C internal/lab/release run . -sbom /tmp/dist
//	go -C internal/lab/release run . -vuln latest
//
// The repository has several modules. Inside it, each finds the others through replace directives,
// which have no effect for users. The program therefore does what a user does. It writes the
// published modules of the last commit into a module proxy of files, under the version that the
// nested modules require of each other. Then, outside of the repository and with an empty module
// cache, it makes a module for each program in the folder users, gets the published module with go
// get, builds the program and runs it. None of these modules has a replace directive. A command it
// gets with go install. At last it is a visitor without a clone: it runs the example of the README
// with go run, types the guide, and compiles a program that uses the root module for other
// platforms.
//
// Modules of others come from the module cache of this machine, and from the proxy of the go
// command if they are not there.
//
// With -set, it changes the version that the go.mod files of the repository require of our modules.
// With -tags, it prints the git tags that publish that version, in the order of the requirements.
//
// With -dist, it builds what a release offers for download into a new folder: the command for each
// platform, bills of materials and checksums, which it signs with the SSH key that -key names. It
// builds each binary twice, and fails if the two differ. With -sbom, it writes only the bills of
// materials. With -vuln, it asks govulncheck about the published modules and the template, and
// fails if they call what is vulnerable in a module of others.
//
// The program refuses to try or build a commit from which the working tree differs, and -dist
// refuses a commit without the tags of the release. With -dirty, it takes the files of the working
// tree as they are, including those that git ignores, and signs nothing.
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

// options are what the command line says.
type options struct {
	version, dist, key, bom, vuln string
	tags, dirty                   bool
}

func main() {
	var o options
	flag.StringVar(&o.version, "set", "", "make the modules of the repository require each other at this version")
	flag.BoolVar(&o.tags, "tags", false, "print the tags of the version that the modules require of each other")
	flag.StringVar(&o.dist, "dist", "", "write what a release offers for download into this new folder")
	flag.StringVar(&o.key, "key", "", "the file of an SSH key that signs the checksums of -dist")
	flag.StringVar(&o.bom, "sbom", "", "write the bills of materials of the command and the template into this folder")
	flag.StringVar(&o.vuln, "vuln", "", "look for known vulnerabilities in this version of their database, such as latest")
	flag.BoolVar(&o.dirty, "dirty", false, "take the files of the working tree, and not of the last commit")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if err := o.checkDist(); err != nil {
		return err
	}
	modules, err := Load(root)
	if err != nil {
		return err
	}
	if o.version != "" {
		return SetVersion(modules, o.version)
	}
	if problems := Problems(modules); len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	if o.tags {
		for _, m := range Published(modules) {
			fmt.Println(m.Tag(Version(modules)))
		}
		return nil
	}
	if o.bom != "" {
		return WriteBOMs(ctx, modules, o.bom)
	}
	dir, err := os.MkdirTemp("", "understudy-release")
	if err != nil {
		return err
	}
	defer removeAll(dir)
	if o.vuln != "" {
		return Vulnerabilities(ctx, modules, dir, o.vuln)
	}
	if !o.dirty {
		head := filepath.Join(dir, "head")
		if err := Checkout(ctx, root, head); err != nil {
			return err
		}
		if modules, err = Load(head); err != nil {
			return err
		}
	}
	if o.dist != "" {
		if err := o.requireTags(ctx, modules); err != nil {
			return err
		}
		return Dist(ctx, modules, dir, o.dist, o.key)
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
