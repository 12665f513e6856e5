// Bank is a program for the tests of a rolling update. The name of its file says which build of the
// program it is: bank-base, or one with a change.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/config"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/rehearsal"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/singleton"
)

// A deposit asks an account, or the ledger, for its new balance.
type deposit struct {
	Amount  amount
	ReplyTo actor.ActorRef[int]
}

// An amount is encoded by methods, so nobody can tell from its type how. It is 0 to 9.
type amount int

// textual is true in a build that encodes an amount as a text.
var textual bool

func (a amount) MarshalCBOR() ([]byte, error) {
	if a < 0 || a > 9 {
		return nil, errors.New("this is no amount")
	}
	if textual {
		return []byte{0x61, byte('0' + a)}, nil
	}
	return []byte{byte(a)}, nil
}

func (a *amount) UnmarshalCBOR(data []byte) error {
	if textual != (len(data) == 2) {
		return errors.New("this is no amount")
	}
	*a = amount(data[len(data)-1] & 0xf)
	return nil
}

// refusing is true in a build that refuses all requests.
var refusing bool

// deposited is the event of both.
type deposited struct{ Amount int }

// A build is one version of the program.
type build struct {
	register   func()
	shards     int
	options    []singleton.Option // of the ledger
	start, end func(cfg *cluster.Config) error
	serve      func() // before HTTP is served
}

func register() {
	actor.RegisterType[deposit]("bank.deposit")
	actor.RegisterType[deposited]("bank.deposited")
}

func nothing(*cluster.Config) error { return nil }

func builds() map[string]build {
	base := build{register: register, shards: 8, start: nothing, end: nothing, serve: func() {}}
	all := map[string]build{"base": base}
	change := func(name string, f func(*build)) {
		b := base
		f(&b)
		all[name] = b
	}
	change("same", func(*build) {})
	change("shards", func(b *build) { b.shards = 16 })
	change("role", func(b *build) { b.options = []singleton.Option{singleton.Role("ledger")} })
	change("crash", func(b *build) { b.start = func(*cluster.Config) error { return errors.New("the licence has expired") } })
	change("renamed-event", func(b *build) {
		b.register = func() {
			actor.RegisterType[deposit]("bank.deposit")
			actor.RegisterType[deposited]("bank.paid-in")
		}
	})
	change("own-format", func(b *build) { b.register = func() { textual = true; register() } })
	change("refuse", func(b *build) { b.register = func() { refusing = true; register() } })
	change("never-ready", func(b *build) { b.serve = func() { select {} } })
	change("log", func(b *build) {
		b.start = func(c *cluster.Config) error { c.Logger.Error("no interest today"); return nil }
	})
	change("exit-code", func(b *build) {
		b.start = all["log"].start
		b.end = func(*cluster.Config) error { return errors.New("cannot save the draft") }
	})
	return all
}

func main() {
	name := strings.TrimPrefix(filepath.Base(os.Args[0]), "bank-")
	b, ok := builds()[name]
	if !ok {
		fail(errors.New("there is no build " + name))
	}
	b.register()
	rehearsal.Serve(open, rehearsal.Of("account", account), rehearsal.Of("ledger", b.ledger))
	listen, file := flag.String("http", "", "address of the HTTP server"), flag.String("journal", "", "file of the journal")
	flag.Parse()
	if err := b.run(name, *listen, *file); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(3)
}

func open(_ context.Context, location string) (persistence.Journal, error) {
	return sqlite.Open(location) //nolint:contextcheck // it takes no context
}

func account(id string, j persistence.Journal) actor.Behavior[deposit] {
	return behaviors.EventSourced(id, j, 0, func(balance int, d deposited) int { return balance + d.Amount },
		func(_ *actor.Context[deposit], balance int, d deposit) persistence.Effect[deposited] {
			return persistence.ThenReply(persistence.Persist(deposited{int(d.Amount)}), d.ReplyTo, balance+int(d.Amount))
		})
}

func (b build) ledger(id string, j persistence.Journal) actor.Behavior[deposit] {
	return behaviors.Singleton(func() actor.Behavior[deposit] { return account(id, j) }, b.options...)
}

func (b build) run(version, listen, file string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	defer j.Close()
	cfg, err := config.FromEnv("BANK_", cluster.Config{Name: "bank", AppVersion: version, Journal: j, Logger: zap.Must(zap.NewProduction())})
	if err != nil {
		return err
	}
	if err := b.start(&cfg); err != nil {
		return err
	}
	node, err := cluster.Start(ctx, cfg)
	if err != nil {
		return err
	}
	accounts, err := sharding.Start(node, "account", func(e sharding.Entity) actor.Behavior[deposit] { return account(e.PersistenceID(), j) }, sharding.Shards(b.shards))
	if err != nil {
		return err
	}
	ledger := actor.Spawn(node, b.ledger("ledger", j), "ledger")
	b.serve()
	if err := serve(ctx, node, listen, accounts, ledger); err != nil {
		return err
	}
	if err := node.ShutdownOnSignal(context.Background()); err != nil {
		return err
	}
	return b.end(&cfg)
}

func serve(ctx context.Context, node *cluster.Node, listen string, accounts *sharding.Region[deposit], ledger actor.ActorRef[deposit]) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/cluster/", http.StripPrefix("/cluster", node.Handler())) //nolint:contextcheck // it has one for each request
	mux.HandleFunc("PUT /accounts/{id}", func(w http.ResponseWriter, r *http.Request) {
		if refusing {
			http.Error(w, "no more deposits", http.StatusBadRequest)
			return
		}
		for _, ref := range []actor.ActorRef[deposit]{accounts.Ref(r.PathValue("id")), ledger} {
			if _, err := actor.AskTimeout(r.Context(), ref, 20*time.Second, func(to actor.ActorRef[int]) deposit { return deposit{1, to} }); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	node.OnShutdown(actor.ServiceUnbind, "http", server.Shutdown)
	go server.Serve(l) //nolint:errcheck // the node ends it
	return nil
}
