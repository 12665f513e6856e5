package cli

import (
	"context"

	"github.com/understudy-go/understudy/cmd/understudy/internal/tools"
)

func serveTools(ctx context.Context, c *command) (int, error) {
	return fine, tools.Serve(ctx, tools.New(c.client, c.actions, version()), c.Stdin, c.Stdout)
}
