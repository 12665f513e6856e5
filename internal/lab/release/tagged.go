package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// checkDist returns an error if the options would sign what no tag has, or if the key is missing.
func (o options) checkDist() error {
	switch {
	case o.key == "":
		return nil
	case o.dist == "":
		return errors.New("-key signs the checksums of -dist: name a folder with -dist")
	case o.dirty:
		return errors.New("-dirty builds files that no tag has, which must not be signed: commit and tag them, or leave out -key")
	}
	_, err := os.Stat(o.key)
	return err
}

func (o options) requireTags(ctx context.Context, modules []Module) error {
	if o.dirty {
		return nil
	}
	return RequireTags(ctx, root, modules)
}

// RequireTags fails unless the last commit of the repository at root has the tags that publish the
// modules.
func RequireTags(ctx context.Context, root string, modules []Module) error {
	out, err := output(ctx, root, "git", "tag", "--points-at", "HEAD")
	if err != nil {
		return err
	}
	version, tags := Version(modules), strings.Fields(out)
	var missing []string
	for _, m := range Published(modules) {
		if tag := m.Tag(version); !slices.Contains(tags, tag) {
			missing = append(missing, tag)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the last commit is not the one that is released, because it lacks the tags %s: tag it, as docs/releasing.md says, or try the build with -dirty and without -key", strings.Join(missing, ", "))
	}
	return nil
}
