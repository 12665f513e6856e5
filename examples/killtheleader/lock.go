package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// lockKey is the key of the advisory lock of the leader. Each opponent has a database of its own.
const lockKey = 4711

// The rhythm of the election by advisory lock.
const (
	lockPoll  = time.Second     // between two tries, and between two looks at the connection
	lockLimit = 2 * time.Second // of one statement on the connection of the lock
)

// A lockElection makes the node the leader whose session has the advisory lock.
type lockElection struct {
	*tableLedger
	url   string
	idle  bool // the session ends when it is idle
	holds atomic.Bool
	stop  context.CancelFunc
	ended chan struct{}
}

// startLock starts a node whose leader has an advisory lock.
func startLock(ctx context.Context, cfg nodeConfig) (ledger, error) {
	table, err := newTableLedger(ctx, cfg.Postgres, cfg.Name)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	e := &lockElection{tableLedger: table, url: cfg.Postgres, idle: cfg.Strict, stop: stop, ended: make(chan struct{})}
	table.leads = e.holds.Load
	go e.run(ctx)
	return e, nil
}

func (e *lockElection) run(ctx context.Context) {
	defer close(e.ended)
	for ctx.Err() == nil {
		e.session(ctx)
		pause(ctx, lockPoll)
	}
}

// session opens a connection and tries to get the lock until it has it; then it leads until the
// connection fails.
func (e *lockElection) session(ctx context.Context) {
	conn, err := connect(ctx, e.url)
	if err != nil {
		return
	}
	defer closeConn(conn)
	if e.idle && limitIdle(ctx, conn) != nil {
		return
	}
	e.campaigns.Store(true)
	for ctx.Err() == nil {
		got, err := tryLock(ctx, conn)
		if err != nil {
			return
		}
		if got {
			e.lead(ctx, conn)
			return
		}
		pause(ctx, lockPoll)
	}
}

// limitIdle makes the server end a session that a paused leader does not use: its polls come each
// second.
func limitIdle(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	_, err := conn.Exec(ctx, "SET idle_session_timeout = '4s'")
	return err
}

// lead writes until the connection of the lock does not answer. When the connection is closed, the
// server releases the lock.
func (e *lockElection) lead(ctx context.Context, conn *pgx.Conn) {
	e.takeOver()
	e.holds.Store(true)
	defer e.resign()
	defer e.holds.Store(false)
	for ctx.Err() == nil {
		if ping(ctx, conn) != nil {
			return
		}
		pause(ctx, lockPoll)
	}
}

func (e *lockElection) leave(context.Context) error {
	e.stop()
	<-e.ended
	return nil
}

func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	return pgx.Connect(ctx, url)
}

// closeConn closes a connection of which the context may have ended.
func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	_ = conn.Close(ctx) // it may be broken
}

func tryLock(ctx context.Context, conn *pgx.Conn) (got bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockLimit)
	defer cancel()
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", lockKey).Scan(&got)
	return got, err
}

func ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockLimit)
	defer cancel()
	return conn.Ping(ctx)
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
