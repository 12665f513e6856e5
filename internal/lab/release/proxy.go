package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// WriteProxy adds m to the module proxy in dir, as version. It takes all files in the
// folder of m, without nested modules.
func WriteProxy(dir string, m Module, version string) error {
	escaped, err := module.EscapePath(m.Path())
	if err != nil {
		return err
	}
	versions := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Now().UTC()})
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(m.File.Syntax.Name)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod,
	} {
		if err := os.WriteFile(filepath.Join(versions, name), data, 0o644); err != nil {
			return err
		}
	}
	return writeZip(filepath.Join(versions, version+".zip"), m, version)
}

func writeZip(name string, m Module, version string) error {
	files, err := filesOf(m)
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = zip.Create(f, module.Version{Path: m.Path(), Version: version}, files)
	return errors.Join(err, f.Close())
}

// filesOf returns the files that the go command would take from a repository for m: those in its
// folder, and the licence of the repository if m has none.
func filesOf(m Module) ([]zip.File, error) {
	checked, err := zip.CheckDir(m.Dir)
	if err != nil {
		return nil, err
	}
	licence := file{"LICENSE", filepath.Join(m.Root, "LICENSE")}
	var files []zip.File
	for _, source := range checked.Valid {
		rel, err := filepath.Rel(m.Dir, source)
		if err != nil {
			return nil, err
		}
		files = append(files, file{filepath.ToSlash(rel), source})
	}
	if _, err := licence.Lstat(); err == nil && !slices.ContainsFunc(files, func(f zip.File) bool { return f.Path() == licence.path }) {
		files = append(files, licence)
	}
	return files, nil
}

// A file of an archive.
type file struct{ path, source string }

func (f file) Path() string                 { return f.path }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(f.source) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.source) }
