package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = zip.CreateFromDir(f, module.Version{Path: m.Path(), Version: version}, m.Dir)
	return errors.Join(err, f.Close())
}
