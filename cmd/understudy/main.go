// Command understudy asks a running node of a cluster how the cluster is, and why something does
// not move. It reads what the program serves with node.Handler().
//
//	go install github.com/understudy-go/understudy/cmd/understudy@latest
//	understudy status -url http://127.0.0.1:8080/cluster/
//
// The page docs/cli.md of the repository shows every command.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/understudy-go/understudy/cmd/understudy/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, cli.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Terminal: term.IsTerminal(int(os.Stdin.Fd())),
	}, os.Args[1:])
	stop()
	os.Exit(code)
}
