package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// programs has a program for each published module that users import, named after its folder.
//
//go:embed users
var programs embed.FS

// programOf returns the program of a user of m.
func programOf(m Module) ([]byte, error) {
	name := strings.ReplaceAll(m.Name, "/", "-")
	if m.Name == "." {
		name = "understudy"
	}
	return programs.ReadFile("users/" + name + ".go.txt")
}

// users are modules outside of the repository. They share one module cache, which is empty at
// first, and get our modules from the proxy in dir.
type users struct {
	dir     string
	version string
	env     []string
}

func newUsers(ctx context.Context, dir, version string) (users, error) {
	u := users{dir: dir, version: version, env: os.Environ()}
	cache, err := u.run(ctx, ".", "go", "env", "GOMODCACHE")
	if err != nil {
		return u, err
	}
	proxy, err := u.run(ctx, ".", "go", "env", "GOPROXY")
	if err != nil {
		return u, err
	}
	u.env = append(u.env,
		"GOPROXY=file://"+filepath.ToSlash(dir)+"/proxy,file://"+filepath.ToSlash(cache)+"/cache/download,"+proxy,
		"GOMODCACHE="+filepath.Join(dir, "cache"),
		"GONOSUMDB="+rootPath+","+rootPath+"/*", // the database does not know ours; it checks what others have published
		"GOPRIVATE=", "GONOPROXY=", "GOWORK=off",
		// With the path of the cache in the binaries, each new cache would compile all packages
		// again.
		"GOFLAGS=-trimpath",
	)
	return u, nil
}

// try makes a module that uses m, and returns what its program prints.
func (u users) try(ctx context.Context, m Module) (string, error) {
	source, err := programOf(m)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(u.dir, "users", m.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), source, 0o644); err != nil {
		return "", err
	}
	for _, command := range [][]string{
		{"go", "mod", "init", "example.com/user"},
		{"go", "get", m.Path() + "@" + u.version},
		{"go", "mod", "tidy"},
		{"go", "build", "-o", "program", "."},
	} {
		if _, err := u.run(ctx, dir, command...); err != nil {
			return "", err
		}
	}
	return u.run(ctx, dir, filepath.Join(dir, "program"))
}

// install installs the command in m, and returns what its help prints.
func (u users) install(ctx context.Context, m Module) (string, error) {
	bin := filepath.Join(u.dir, "bin")
	u.env = append(u.env, "GOBIN="+bin)
	if _, err := u.run(ctx, u.dir, "go", "install", m.Path()+"@"+u.version); err != nil {
		return "", err
	}
	return u.run(ctx, u.dir, filepath.Join(bin, path.Base(m.Path())), "help")
}

// run runs a command in dir and returns what it prints, without the space around it.
func (u users) run(ctx context.Context, dir string, command ...string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, u.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(command, " "), err, out, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
