//go:build !race

package outside_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"

	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// A warehouse keeps its stock in a database. A process that was stopped, and does not know that
// another one has its run, takes nothing out any more.
func ExampleFence() {
	dir, err := os.MkdirTemp("", "example")
	must(err)
	defer func() { must(os.RemoveAll(dir)) }()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "stock.db")+"?_pragma=busy_timeout(5000)")
	must(err)
	defer db.Close()
	_, err = db.Exec("CREATE TABLE stock (left INTEGER); INSERT INTO stock VALUES (10)")
	must(err)
	must(outside.Migrate(context.Background(), db))

	take := func(ctx context.Context) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := outside.Fence(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE stock SET left = left - 1"); err != nil {
			return err
		}
		return tx.Commit()
	}

	// The steps call from elsewhere, so the caller is in the headers. In a step, ctx has it
	// already.
	warehouse := outside.Handler(outside.NewMemory(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { fmt.Println(take(r.Context())) }))
	for _, call := range []struct {
		step  string
		token int
	}{{"order/1/take", 1}, {"order/1/take again", 2}} {
		r := httptest.NewRequest(http.MethodPost, "/take", http.NoBody)
		r.Header.Set(outside.KeyHeader, call.step)
		r.Header.Set(outside.ScopeHeader, "order|1")
		r.Header.Set(outside.TokenHeader, strconv.Itoa(call.token))
		warehouse.ServeHTTP(httptest.NewRecorder(), r)
	}
	// Another warehouse server, with the same database, has not seen the second call.
	r := httptest.NewRequest(http.MethodPost, "/take", http.NoBody)
	r.Header.Set(outside.ScopeHeader, "order|1")
	r.Header.Set(outside.TokenHeader, "1")
	outside.Handler(outside.NewMemory(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { fmt.Println(take(r.Context())) })).
		ServeHTTP(httptest.NewRecorder(), r)

	var left int
	must(db.QueryRow("SELECT left FROM stock").Scan(&left))
	fmt.Println(left, "left")
	// Output:
	// <nil>
	// <nil>
	// outside: another process has taken the run over: order|1, token 1
	// 8 left
}
