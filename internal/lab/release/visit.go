package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// visit does what the README says, without a clone.
func (u users) visit(ctx context.Context) error {
	root := "github.com/understudy-go/understudy"
	user := filepath.Join(u.dir, "users") // of the root module
	guide, err := filepath.Abs("../guide")
	if err != nil {
		return err
	}
	type visit struct {
		what, dir string
		command   []string
		env       []string
	}
	visits := []visit{
		{"the README's first command", u.dir, []string{"go", "run", root + "/examples/failover@" + u.version}, nil},
		{"the guide, as it is printed", guide, []string{"go", "test", "-count=1", "-run=TestTheGuideCanBeTypedAsItIsPrinted", ".", "-released"}, []string{"UNDERSTUDY_REQUIRE_SERVICES=1"}},
	}
	for _, p := range platforms[1:] { // the first is the one of this machine
		visits = append(visits, visit{p.system + "/" + p.architecture + " compiles and vets it", user, []string{"go", "vet", ".", root + "/..."}, []string{"GOOS=" + p.system, "GOARCH=" + p.architecture, "CGO_ENABLED=0"}})
	}
	for _, v := range visits {
		began := time.Now()
		visitor := u
		visitor.env = append(slices.Clip(u.env), v.env...)
		answer, err := visitor.run(ctx, v.dir, v.command...)
		if err != nil {
			return fmt.Errorf("%s: %w", v.what, err)
		}
		last := answer[strings.LastIndex(answer, "\n")+1:]
		fmt.Printf("%s (%.1f s): %s\n", v.what, time.Since(began).Seconds(), last)
	}
	return nil
}
