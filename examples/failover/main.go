// Command failover shows what Understudy is for: a counter that exists once in a cluster
// of three processes, and keeps its count while its host is killed, again and again.
//
//	go run ./examples/failover
//
// It starts three processes of itself on free ports of the loopback interface, with one
// SQLite journal in a temporary directory. Clients on every node send increments to the
// counter all the time. The host is killed with SIGKILL, the next one too, and the one
// after that leaves in good order. In the end every increment that was acknowledged must
// be in the final state exactly once, by its ID; only then is the exit status 0.
//
// With -pause the first host is stopped with SIGSTOP instead, and continued when another
// has taken over: its next write is refused by the journal, should it come to that before
// the host hears that it has been replaced.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	node := flag.String("node", "", "run as the node of this name (used by the program itself)")
	bind := flag.String("bind", "", "address of the node")
	seeds := flag.String("seeds", "", "addresses of all nodes")
	database := flag.String("database", "", "path of the journal")
	stop := flag.Bool("pause", false, "stop the first host with SIGSTOP and continue it later, instead of killing it")
	flag.Parse()

	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var err error
	if *node != "" {
		err = runNode(ctx, *node, *bind, strings.Split(*seeds, ","), *database)
	} else {
		err = direct(ctx, os.Stdout, *stop)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(1)
	}
}

// direct runs the story, and leaves nothing behind.
func direct(ctx context.Context, out io.Writer, stop bool) error {
	d, err := newDirector(out)
	if err != nil {
		return err
	}
	defer d.close()
	first := kill
	if stop {
		first = pause
	}
	err = d.tell(ctx, first)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil:
		d.showLog()
		return err
	}
	return nil
}

// showLog prints what the nodes had to say.
func (d *director) showLog() {
	text, err := os.ReadFile(d.log.Name())
	if err == nil && len(text) > 0 {
		fmt.Fprintf(os.Stderr, "--- the nodes said:\n%s---\n", text)
	}
}

// freeAddresses returns a loopback address with a free port for each name.
func freeAddresses(names ...string) (map[string]string, error) {
	addresses := make(map[string]string)
	for _, name := range names {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		addresses[name] = l.Addr().String()
	}
	return addresses, nil
}
