package rehearse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// copyTo copies the file or the directory of a journal, and returns where the copy is. A URL stays.
func copyTo(ctx context.Context, location, dir string) (string, error) {
	if strings.Contains(location, "://") {
		return location, nil
	}
	to := filepath.Join(dir, filepath.Base(location))
	info, err := os.Stat(location)
	if err != nil {
		return "", fmt.Errorf("the journal: %w", err)
	}
	if info.IsDir() {
		return to, os.CopyFS(to, os.DirFS(location))
	}
	if err := copyFile(ctx, location, to); err != nil {
		return "", err
	}
	// What SQLite has written and not yet moved into the file. It makes its index of that anew.
	if err := copyFile(ctx, location+"-wal", to+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return to, nil
}

func copyFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from) //nolint:gosec // the user has named it
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // in a directory of its own
	if err != nil {
		return err
	}
	_, err = io.Copy(out, cancelled{ctx, in})
	return errors.Join(err, out.Close())
}

type cancelled struct {
	ctx context.Context //nolint:containedctx // of one copy
	io.Reader
}

func (c cancelled) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(b)
}
