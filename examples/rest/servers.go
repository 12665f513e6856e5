package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

const (
	servers = 3

	// write is what each write takes longer there, so that one machine can send three times as
	// much as the fund can make.
	write = 10 * time.Millisecond
)

// slow is a journal whose writes take longer.
type slow struct {
	persistence.Journal
	by time.Duration
}

// Append implements [persistence.Journal].
func (s slow) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	time.Sleep(s.by)
	return s.Journal.Append(ctx, reqs)
}

// A service is the processes, with the addresses of their HTTP servers.
type service struct {
	processes []*process.Process
	addresses []string
	log       *os.File // what the processes print on standard error
}

// name is the NodeID of the i-th process.
func name(i int) string { return fmt.Sprint("server-", i+1) }

// open starts the processes, and waits until all of them answer.
func open(ctx context.Context, s settings) (*service, error) {
	all := &service{}
	free, err := process.FreeAddresses(2 * servers)
	if err != nil {
		return all, err
	}
	if all.log, err = os.Create(s.journal + ".log"); err != nil {
		return all, err
	}
	nodes := free[:servers]
	all.addresses = slices.Clone(free[servers:])
	for i, address := range all.addresses {
		cmd := process.Self(nil, "-node", name(i), "-bind", nodes[i], "-http", address,
			"-seeds", strings.Join(nodes, ","), "-journal", s.journal, "-write", write.String())
		cmd.Stderr = all.log
		p, err := process.Start(cmd)
		if err != nil {
			return all, err
		}
		all.processes = append(all.processes, p)
	}
	for i, p := range all.processes {
		if _, ok := p.Line(); !ok {
			return all, fmt.Errorf("%s has not started", name(i))
		}
		for get(ctx, all.addresses[i], "/balance", new(json.RawMessage)) != nil {
			if !wait(ctx, 50*time.Millisecond) {
				return all, errors.New("interrupted")
			}
		}
	}
	return all, nil
}

// close kills the processes. If show is set, it prints their log.
func (all *service) close(show bool) {
	for _, p := range all.processes {
		p.Kill()
	}
	if all.log == nil {
		return
	}
	if text, err := os.ReadFile(all.log.Name()); err == nil && show {
		fmt.Fprintf(os.Stderr, "--- the servers said:\n%s---\n", text)
	}
	_ = all.log.Close() // it has been read
}

// kill kills the host of the fund, and returns its name.
func (all *service) kill(ctx context.Context) (host string, err error) {
	var status struct {
		Singletons []struct{ Host string }
		Members    []struct{ ID, Name string }
	}
	if err := get(ctx, all.addresses[0], "/cluster/status", &status); err != nil {
		return "", err
	}
	for _, m := range status.Members {
		if len(status.Singletons) == 1 && status.Singletons[0].Host == m.ID {
			host = m.Name
		}
	}
	for i, p := range all.processes {
		if name(i) == host {
			p.Kill()
			all.addresses = slices.Delete(all.addresses, i, i+1)
			return host, nil
		}
	}
	return "", fmt.Errorf("no server hosts the fund: %+v", status)
}

// get reads JSON from a server.
func get(ctx context.Context, server, path string, answer any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// wait returns false if ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
