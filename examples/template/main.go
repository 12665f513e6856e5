package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/config"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/persistence/rehearsal"
)

// version is set by the linker. Members, events and the status page show it.
var version = "dev"

func main() {
	rehearsal.Serve(openJournal, rehearsal.Of("numbers", func(_ string, j persistence.Journal) actor.Behavior[Request] {
		return numbers(j)
	}))
	listen := flag.String("http", "127.0.0.1:8001", "address of the HTTP server")
	database := flag.String("journal", os.Getenv("DATABASE_URL"), "URL of the database")
	service := flag.String("discover", "", "headless service of the pods (default: the nodes in SHOP_SEEDS)")
	grace := flag.Bool("grace", false, "print how many seconds a shutdown takes at most, and exit")
	flag.Parse()
	if *grace {
		fmt.Println(actor.NewSystem("shop").ShutdownLimit().Seconds())
		return
	}
	if err := run(*listen, *database, *service); err != nil {
		log.Fatal(err)
	}
}

func openJournal(ctx context.Context, url string) (persistence.Journal, error) {
	return postgres.Open(ctx, url)
}

func run(listen, database, service string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	if database == "" {
		return errors.New("set DATABASE_URL, or -journal: postgres://user:password@host:port/database")
	}
	journal, err := postgres.Open(ctx, database)
	if err != nil {
		return err
	}
	defer journal.Close()

	base := cluster.Config{Name: "shop", AppVersion: version}
	if service != "" {
		base.Discovery = cluster.Kubernetes{Service: service, Namespace: os.Getenv("POD_NAMESPACE"), Port: 7355}
		base.MinSeeds = 2 // of three
	}
	cfg, err := config.FromEnv("SHOP_", base)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen) // a port that is taken is noticed before the node joins
	if err != nil {
		return err
	}
	node, err := cluster.Start(ctx, cfg)
	if err != nil {
		return err
	}
	ref := actor.Spawn(node, numbers(journal), "numbers")
	serve(node, listener, routes(node, ref))
	return node.ShutdownOnSignal(context.Background())
}
