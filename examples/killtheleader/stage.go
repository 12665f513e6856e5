package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/process"
)

// A stage has what all opponents share: the network, the PostgreSQL server and the API server.
type stage struct {
	settings

	dir       string
	network   *network // nil without one
	noNetwork error    // why network is nil
	postgres  *postgresServer
	kube      *apiServer // nil without one
	noKube    error      // why kube is nil
}

// newStage starts the servers. Only PostgreSQL is required.
func newStage(ctx context.Context, s settings) (*stage, error) {
	st := &stage{settings: s}
	if err := st.open(ctx); err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

func (s *stage) open(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp("", "killtheleader-"); err != nil {
		return err
	}
	s.network, s.noNetwork = newNetwork()
	if s.postgres, err = startPostgres(ctx, s.hub()); err != nil {
		return err
	}
	if s.plays(byLease) {
		s.kube, s.noKube = startKubeAPI(s.kubeapi, s.hub())
	}
	return nil
}

// hub is the address of the servers.
func (s *stage) hub() string {
	if s.network == nil {
		return "127.0.0.1"
	}
	return hub
}

// lack returns why an opponent cannot play on this machine, or nil.
func (s *stage) lack(o opponent) error {
	if o.ledger == byLease {
		return s.noKube
	}
	if o.pooler == "" {
		return nil
	}
	_, err := pgbouncerPath()
	return err
}

// nodes returns the configurations of the nodes of an opponent.
func (s *stage) nodes(ctx context.Context, o opponent) ([]nodeConfig, error) {
	database := strings.ReplaceAll(o.name, "-", "_")
	url, err := s.postgres.database(ctx, database, o.schema)
	if err == nil && o.pooler != "" {
		url, err = s.postgres.pool(ctx, o.pooler, database)
	}
	if err != nil {
		return nil, err
	}
	addresses, err := s.addresses()
	if err != nil {
		return nil, err
	}
	all := make([]nodeConfig, nodeCount)
	for i := range all {
		all[i] = nodeConfig{
			Name: nodeName(i), Opponent: o.ledger, Listen: addresses[2*i], Bind: addresses[2*i+1],
			Seeds: []string{addresses[1], addresses[3], addresses[5]}, Postgres: url, Strict: o.strict,
		}
		if s.kube != nil {
			all[i].Kube = s.kube.access
		}
	}
	return all, nil
}

// addresses returns two addresses for each node: of its HTTP server, and for its peers.
func (s *stage) addresses() (all []string, err error) {
	if s.network == nil {
		return process.FreeAddresses(2 * nodeCount)
	}
	for node := range nodeCount {
		all = append(all, s.network.host(node)+":8080", s.network.host(node)+":7355")
	}
	return all, nil
}

// log opens the file for what the nodes of an opponent print.
func (s *stage) log(o opponent) (*os.File, error) {
	return os.Create(filepath.Join(s.dir, o.name+".log"))
}

// close ends the servers and removes all files.
func (s *stage) close() {
	if s.kube != nil {
		s.kube.close()
	}
	if s.postgres != nil {
		s.postgres.close()
	}
	if s.network != nil {
		s.network.close()
	}
	if s.logs {
		fmt.Fprintln(os.Stderr, "the logs of the nodes are in", s.dir)
		return
	}
	_ = os.RemoveAll(s.dir)
}

// settledFor is how long the system must have been well before the next fault.
const settledFor = 3 * time.Second
