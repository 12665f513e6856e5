// Command kubeapi is a Kubernetes API server and the etcd under it in one process, for
// tests that a model of the API cannot replace: see make test-kubernetes. There are no
// controllers, no scheduler and no nodes.
//
//	kubeapi -dir DIR
//
// It writes tokens and certificates into DIR, and listens on free ports of the loopback interface.
// When it is ready it prints one line of JSON to the standard output: the address and the files
// (see [access]). The log goes to the standard error. It ends when its standard input is closed, or
// on a signal.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	dir := flag.String("dir", "", "where files go; it must exist")
	port := flag.Int("port", 0, "of the API server; 0 is any that is free")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *dir, *port); err != nil {
		fmt.Fprintln(os.Stderr, "kubeapi:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, port int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1)) // returns when the parent process has ended
		cancel()
	}()

	var err error
	if port == 0 {
		if port, err = freePort(); err != nil {
			return err
		}
	}
	files, err := prepare(dir, fmt.Sprintf("https://127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	etcd, err := startEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		return err
	}
	defer etcd.Close()

	command := app.NewAPIServerCommand()
	command.SetArgs(arguments(dir, port, etcd.Clients[0].Addr().String()))
	ended := make(chan error, 1)
	go func() { ended <- command.ExecuteContext(ctx) }()
	go func() {
		if err := awaitReady(ctx, files); err != nil {
			ended <- err
			return
		}
		if err := json.NewEncoder(os.Stdout).Encode(files); err != nil {
			ended <- err
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}
