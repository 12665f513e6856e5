package effects

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/internal/process"
	_ "github.com/understudy-go/understudy/persistence/sqlite" // registers the driver "sqlite"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// nodeHeader has the name of the node that makes a request.
const nodeHeader = "Node"

// A sink is the receiver outside of the cluster. It writes each effect into its ledger, in the
// transaction in which package outside notes the key and the token. It also writes down the
// requests that had no effect.
type sink struct {
	db   *sql.DB
	once http.Handler // calls effect
}

// serveSink is the process of the sink. It ends when its input does.
func serveSink(s settings) error {
	db, err := openLedger(s.ledger)
	if err != nil {
		return err
	}
	defer db.Close()
	sink, err := newSink(db)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: s.listen, Handler: sink.handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-process.UntilEOF().Done()
		_ = server.Close() // the process ends
	}()
	fmt.Println(opened)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openLedger opens the database of the sink. One connection is enough, because SQLite has one
// writer at a time: requests wait for it in order.
func openLedger(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(normal)&_pragma=busy_timeout(5000)&_pragma=cache_size(-200000)&_pragma=wal_autocheckpoint(10000)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func newSink(db *sql.DB) (*sink, error) {
	s := &sink{db: db}
	if _, err := db.Exec(ledgerDDL); err != nil {
		return nil, err
	}
	s.once = outside.Handler(outside.NewSQL(db), http.HandlerFunc(s.effect), outside.Require())
	return s, nil
}

func (s *sink) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /effects/{run}/{number}", s.answer)
	return mux
}

// effect makes one effect: a row of the ledger. The answer is its number.
func (s *sink) effect(w http.ResponseWriter, r *http.Request) {
	serial, err := write(r.Context(), outside.TxOf(r.Context()), "effect", outside.CallerOf(r.Context()), r.Header.Get(nodeHeader))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprint(w, serial) // it is in memory until it is stored
}

// answer answers a request, and writes down what had no effect before the answer is sent.
func (s *sink) answer(w http.ResponseWriter, r *http.Request) {
	seen := &answered{ResponseWriter: w}
	s.once.ServeHTTP(seen, r)
	what := seen.what()
	if what == "" {
		return
	}
	token, _ := strconv.ParseUint(r.Header.Get(outside.TokenHeader), 10, 64) // the Handler refuses it otherwise
	c := outside.Caller{Key: r.Header.Get(outside.KeyHeader), Scope: r.Header.Get(outside.ScopeHeader), Token: token}
	_, _ = write(context.WithoutCancel(r.Context()), s.db, what, c, r.Header.Get(nodeHeader)) // the checks do not need it
}

// An answered knows the status of its answer.
type answered struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements [http.ResponseWriter].
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// what says what has become of a request; "" if it had an effect.
func (a *answered) what() string {
	switch {
	case a.Header().Get(outside.ReplayedHeader) != "":
		return "again"
	case a.status == http.StatusPreconditionFailed:
		return "replaced"
	case a.status == http.StatusOK:
		return ""
	}
	return strconv.Itoa(a.status)
}
