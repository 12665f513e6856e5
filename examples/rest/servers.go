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
	servers = 4 // three are left when one has left, and two of them are a majority

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

// A service is the processes, by their names in the cluster.
type service struct {
	processes map[string]*process.Process
	names     []string // of those that serve
	addresses []string // of their HTTP servers
	log       *os.File // what the processes print on standard error
}

// open starts the processes, and waits until all of them answer.
func open(ctx context.Context, s settings) (*service, error) {
	all := &service{processes: map[string]*process.Process{}}
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
		name := fmt.Sprint("server-", i+1)
		cmd := process.Self(nil, "-node", name, "-bind", nodes[i], "-http", address,
			"-seeds", strings.Join(nodes, ","), "-journal", s.journal, "-write", write.String())
		cmd.Stderr = all.log
		p, err := process.Start(cmd)
		if err != nil {
			return all, err
		}
		all.processes[name], all.names = p, append(all.names, name)
	}
	for i, name := range all.names {
		if _, ok := all.processes[name].Line(); !ok {
			return all, fmt.Errorf("%s has not started", name)
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

// end sends a signal to the host of the fund, and returns its name.
func (all *service) end(ctx context.Context, sig os.Signal) (host string, err error) {
	var status struct {
		Singletons []struct{ Host string }
		Members    []struct{ ID, Name string }
	}
	if err := get(ctx, all.addresses[0], "/cluster/status", &status); err != nil {
		return "", err
	}
	for _, m := range status.Members {
		i := slices.Index(all.names, m.Name)
		if len(status.Singletons) != 1 || status.Singletons[0].Host != m.ID || i < 0 {
			continue
		}
		all.names, all.addresses = slices.Delete(all.names, i, i+1), slices.Delete(all.addresses, i, i+1)
		return m.Name, all.processes[m.Name].Signal(sig)
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
