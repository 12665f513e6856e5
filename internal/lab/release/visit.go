package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// platforms are those that the page about stability names, beside the one of this machine.
var platforms = []string{"linux/arm64", "darwin/arm64", "windows/amd64"}

// visit does what somebody does who has read the README, without a clone.
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
	for _, platform := range platforms {
		system, arch, _ := strings.Cut(platform, "/")
		visits = append(visits, visit{platform + " compiles and vets it", user, []string{"go", "vet", ".", root + "/..."}, []string{"GOOS=" + system, "GOARCH=" + arch, "CGO_ENABLED=0"}})
	}
	for _, v := range visits {
		began := time.Now()
		visitor := u
		visitor.env = append(u.env[:len(u.env):len(u.env)], v.env...)
		answer, err := visitor.run(ctx, v.dir, v.command...)
		if err != nil {
			return fmt.Errorf("%s: %w", v.what, err)
		}
		last := answer[strings.LastIndex(answer, "\n")+1:]
		fmt.Printf("%s (%.1f s): %s\n", v.what, time.Since(began).Seconds(), last)
	}
	return nil
}
