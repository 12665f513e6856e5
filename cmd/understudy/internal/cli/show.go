package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func showStatus(ctx context.Context, c *command) (int, error) {
	sum, err := report.Summarize(ctx, c.client)
	if err != nil {
		return wrong, err
	}
	return fine, c.print(sum, func(w io.Writer) error { return writeSummary(w, sum) })
}

func showWhy(ctx context.Context, c *command) (int, error) {
	why, err := report.Explain(ctx, c.client.Each(), c.arg())
	if err != nil {
		return wrong, err
	}
	return codeOf(why.OK), c.print(why, func(w io.Writer) error { return writeWhy(w, why) })
}

func showMembers(ctx context.Context, c *command) (int, error) {
	s, err := c.client.Status(ctx)
	if err != nil {
		return wrong, err
	}
	all := report.MembersOf(s)
	return fine, c.print(all, func(w io.Writer) error { return writeMembers(w, all) })
}

func showSingletons(ctx context.Context, c *command) (int, error) {
	s, err := c.client.Status(ctx)
	if err != nil {
		return wrong, err
	}
	all, err := report.SingletonsOf(s, c.arg())
	if err != nil {
		return wrong, err
	}
	return fine, c.print(all, func(w io.Writer) error { return writeSingletons(w, all) })
}

func showEntities(ctx context.Context, c *command) (int, error) {
	d, err := c.client.Details(ctx)
	if err != nil {
		return wrong, err
	}
	all, err := report.EntitiesOf(d, c.arg())
	if err != nil {
		return wrong, err
	}
	return fine, c.print(all, func(w io.Writer) error { return writeEntities(w, all) })
}

func showEntity(ctx context.Context, c *command) (int, error) {
	typ, id, ok := strings.Cut(c.arg(), "/")
	if !ok || typ == "" || id == "" {
		_, _ = fmt.Fprintf(c.Stderr, "understudy: %q is not the type and the id of an entity, such as cart/42, nor singleton/NAME\n", c.arg())
		return usage, errUsage
	}
	look := func() (status.Entity, error) { return c.client.Entity(ctx, typ, id, c.at, c.since, c.events) }
	switch {
	case c.program == "" && c.journal != "":
		return wrong, lineError{errors.New("-journal is for -program: name a program that reads it")}
	case c.program != "":
		look = func() (status.Entity, error) { return c.offline(ctx, typ, id) }
	}
	e, err := look()
	if err != nil {
		return wrong, err
	}
	return fine, c.print(e, func(w io.Writer) error { return writeEntity(w, e) })
}

func showSchedules(ctx context.Context, c *command) (int, error) {
	d, err := c.client.Details(ctx)
	if err != nil {
		return wrong, err
	}
	all, err := report.SchedulesOf(d, c.arg())
	if err != nil {
		return wrong, err
	}
	return fine, c.print(all, func(w io.Writer) error { return writeSchedules(w, all) })
}

func showDeadLetters(ctx context.Context, c *command) (int, error) {
	all, err := c.client.DeadLetters(ctx, c.reason, c.recipient, c.limit)
	if err != nil {
		return wrong, err
	}
	return fine, c.print(all, func(w io.Writer) error { return writeDeadLetters(w, all) })
}

func showEvents(ctx context.Context, c *command) (int, error) {
	histories, silent, err := c.client.Histories(ctx)
	if err != nil {
		return wrong, err
	}
	all := report.EventsOf(histories, silent)
	return fine, c.print(all, func(w io.Writer) error { return writeEvents(w, all) })
}

func showSafe(ctx context.Context, c *command) (int, error) {
	safe, err := report.AskSafe(ctx, c.client.Each())
	if err != nil {
		return wrong, err
	}
	return codeOf(safe.Safe), c.print(safe, func(w io.Writer) error { return writeSafe(w, safe) })
}

func codeOf(ok bool) int {
	if ok {
		return fine
	}
	return wrong
}
