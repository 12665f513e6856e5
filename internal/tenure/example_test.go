//go:build !race

package tenure_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

// Put asks a writer to put text into a store outside, and to say what became of it.
type Put struct {
	Text    string
	ReplyTo actor.ActorRef[string]
}

// writer stores the text of a Put under its generation. If the store has seen a later one, a newer
// instance runs elsewhere, and this one must end: it fails with ErrFenced, which no supervision
// restarts in place.
func writer(put func(token uint64, text string) error) func() actor.Behavior[Put] {
	return func() actor.Behavior[Put] {
		return behaviors.Receive(func(ctx *actor.Context[Put], msg Put) actor.Behavior[Put] {
			token, err := singleton.GenerationOf(ctx).Packed()
			if err == nil {
				err = put(token, msg.Text)
			}
			if err != nil {
				msg.ReplyTo.Tell("refused: " + err.Error())
				return ctx.Fail(fmt.Errorf("put %q: %w", msg.Text, err))
			}
			msg.ReplyTo.Tell(fmt.Sprintf("stored by %v", singleton.GenerationOf(ctx)))
			return behaviors.Same
		})
	}
}

// twoHosts runs two instances at once, as when a host is partitioned and does not know that it has
// been replaced. They share the journal of their generations. Each line goes to one of them, by its
// number.
func twoHosts(put func(token uint64, text string) error, lines ...string) {
	terms := journal.NewMemory()
	var hosts []actor.ActorRef[Put]
	for range 2 {
		system := actor.NewSystem("example")
		defer system.Shutdown(context.Background()) //nolint:errcheck // nothing is left to do about it
		ref := actor.Spawn(system, behaviors.Singleton(writer(put), singleton.WithGenerations(terms)), "writer")
		hosts = append(hosts, ref)
		fmt.Println(ask(ref, "hello"))
	}
	for _, line := range lines {
		number, text, _ := strings.Cut(line, " ")
		host, _ := strconv.Atoi(number)
		fmt.Printf("%s: %s\n", text, ask(hosts[host-1], text))
	}
}

func ask(ref actor.ActorRef[Put], text string) string {
	answer, err := actor.Ask(context.Background(), ref, func(replyTo actor.ActorRef[string]) Put { return Put{text, replyTo} })
	if err != nil {
		return err.Error()
	}
	return answer
}

// A fencedService keeps a text. A writer must show a generation that is not below the highest that
// the service has seen.
type fencedService struct {
	mu      sync.Mutex // guards all below
	highest uint64
	text    string
}

func (s *fencedService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	token, malformed := strconv.ParseUint(r.Header.Get("Generation"), 10, 64)
	if err != nil || malformed != nil {
		http.Error(w, "a body and a generation are needed", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if token < s.highest {
		http.Error(w, fmt.Sprintf("generation %d is older than %d", token, s.highest), http.StatusConflict)
		return
	}
	s.highest, s.text = token, string(text)
}

// An HTTP service is fenced by the generation in a header: it keeps the highest it has seen,
// together with what it protects, and refuses lower ones.
func Example_fencedHTTPService() {
	service := &fencedService{}
	server := httptest.NewServer(service)
	defer server.Close()

	put := func(token uint64, text string) error {
		req, err := http.NewRequest(http.MethodPut, server.URL, strings.NewReader(text))
		if err != nil {
			return err
		}
		req.Header.Set("Generation", strconv.FormatUint(token, 10))
		resp, err := server.Client().Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if resp.StatusCode == http.StatusConflict {
			return fmt.Errorf("%w: %s", singleton.ErrFenced, strings.TrimSpace(string(answer)))
		}
		return err
	}
	twoHosts(put, "2 by the new host", "1 by the old one", "2 and again by the new one")
	fmt.Println("kept:", service.text)
	// Output:
	// stored by 1.1
	// stored by 2.1
	// by the new host: stored by 2.1
	// by the old one: refused: persistence: fenced by a newer claim: generation 4294967297 is older than 8589934593
	// and again by the new one: stored by 2.1
	// kept: and again by the new one
}

// A database row is fenced by a column: an update with a lower generation finds no row to change.
func Example_fencedSQLRow() {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	if _, err := db.Exec(`CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL, generation INTEGER NOT NULL);
		INSERT INTO setting VALUES ('greeting', '', 0)`); err != nil {
		fmt.Println(err)
		return
	}

	put := func(token uint64, text string) error {
		result, err := db.Exec(`UPDATE setting SET value = ?1, generation = ?2 WHERE name = 'greeting' AND generation <= ?2`, text, int64(token)) //nolint:gosec // terms are far below 2³¹
		if err != nil {
			return err
		}
		if changed, err := result.RowsAffected(); err != nil || changed == 1 {
			return err
		}
		return singleton.ErrFenced
	}
	twoHosts(put, "2 by the new host", "1 by the old one")
	var value string
	var token uint64
	fmt.Println(db.QueryRow("SELECT value, generation FROM setting").Scan(&value, &token))
	fmt.Printf("kept: %s, of %d\n", value, token)
	// Output:
	// stored by 1.1
	// stored by 2.1
	// by the new host: stored by 2.1
	// by the old one: refused: persistence: fenced by a newer claim
	// <nil>
	// kept: by the new host, of 8589934593
}
