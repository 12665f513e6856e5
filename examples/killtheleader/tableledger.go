package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A tableLedger is the ledger of a node that was elected: it reads the last number when it becomes
// the leader, keeps it in memory, and inserts one row after the other.
type tableLedger struct {
	pool  *pgxpool.Pool
	node  string
	leads func() bool // what the election says, asked immediately before each write

	campaigns atomic.Bool // the node takes part in the election

	mu    sync.Mutex // guards what follows, and is held while a row is written
	term  string     // "" unless this node leads
	last  int64      // the last number in the table
	known bool       // last is right
}

// writeLimit bounds one write. It does not end with the request: a client that has lost patience
// does not break the connection that all others use.
const writeLimit = 5 * time.Second

func newTableLedger(ctx context.Context, url, node string) (*tableLedger, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	return &tableLedger{pool: pool, node: node}, nil
}

// takeOver begins a leadership. The first write reads the last number.
func (l *tableLedger) takeOver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term, l.known = rand.Text()[:6], false
}

// resign ends a leadership. It returns when no write is under way.
func (l *tableLedger) resign() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term = ""
}

func (l *tableLedger) ready() bool { return l.campaigns.Load() }

func (l *tableLedger) next(ctx context.Context, request string) (issued, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() != nil {
		return issued{}, ctx.Err() // nobody waits for the answer any more
	}
	if l.term == "" || !l.leads() {
		return issued{}, errNotLeader
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	if err := l.know(ctx); err != nil {
		return issued{}, err
	}
	return l.insert(ctx, request)
}

// know reads the last number, unless this leadership knows it.
func (l *tableLedger) know(ctx context.Context) error {
	if l.known {
		return nil
	}
	err := l.pool.QueryRow(ctx, "SELECT coalesce(max(number), 0) FROM ledger").Scan(&l.last)
	if err != nil {
		return fmt.Errorf("read the last number: %w", err)
	}
	l.known = true
	return nil
}

func (l *tableLedger) insert(ctx context.Context, request string) (issued, error) {
	n := issued{Number: l.last + 1, Leader: leaderName(l.node, l.term)}
	_, err := l.pool.Exec(ctx, "INSERT INTO ledger (number, request, leader) VALUES ($1, $2, $3)", n.Number, request, n.Leader)
	if err != nil {
		l.known = false                                                                        // it may have been committed
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "23505" { // it is not unique
			fmt.Println(refusedLine)
		}
		return issued{}, fmt.Errorf("insert number %d: %w", n.Number, err)
	}
	l.last++
	return n, nil
}
