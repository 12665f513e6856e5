package postgres_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/understudy-go/understudy/singleton/generation/postgres"
)

// All nodes share a source: give it to placement.Config.Generations or singleton.WithGenerations on
// each.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	source, err := postgres.Open(os.Getenv("DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer source.Close()
	if err := source.Migrate(ctx); err != nil {
		fmt.Println(err)
		return
	}
	g, err := source.ClaimTerm(ctx, "report", "node-1", 0)
	fmt.Println("node-1 owns it, under generation", g, err)
}
