package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A platform is an operating system and an architecture, as in GOOS and GOARCH.
type platform struct{ system, architecture string }

// platforms are those that a release has binaries for.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

// checksums is the file that names all others with their hashes.
const checksums = "SHA256SUMS"

// Dist fills the new folder out with what a release offers for download: the commands for each
// platform, bills of materials, the licences, and checksums. It builds each command twice, in two
// folders with two empty caches, and fails if the files differ. If key is not empty, it is the file
// of an SSH key, which signs the checksums. dir is for temporary files.
func Dist(ctx context.Context, modules []Module, dir, out, key string) error {
	if err := os.Mkdir(out, 0o755); err != nil {
		return fmt.Errorf("%w: name a folder that does not exist yet", err)
	}
	for _, m := range Published(modules) {
		if !m.Command() {
			continue
		}
		if err := buildTwice(ctx, m, Version(modules), dir, out); err != nil {
			return err
		}
		if err := writeLicences(ctx, m, filepath.Join(out, path.Base(m.Name)+"-licences.txt")); err != nil {
			return err
		}
	}
	if err := WriteBOMs(ctx, modules, out); err != nil {
		return err
	}
	if err := writeChecksums(out); err != nil {
		return err
	}
	if key == "" {
		return nil
	}
	return sign(ctx, filepath.Join(out, checksums), key)
}

// buildTwice writes the command m for each platform into out.
func buildTwice(ctx context.Context, m Module, version, dir, out string) error {
	first, err := newBuilder(ctx, m, version, filepath.Join(dir, "first"))
	if err != nil {
		return err
	}
	second, err := newBuilder(ctx, m, version, filepath.Join(dir, "second"))
	if err != nil {
		return err
	}
	for _, p := range platforms {
		a, err := first.build(ctx, m, p)
		if err != nil {
			return err
		}
		b, err := second.build(ctx, m, p)
		if err != nil {
			return err
		}
		if err := keepEqual(a, b, filepath.Join(out, p.file(m, version))); err != nil {
			return err
		}
	}
	return nil
}

// keepEqual moves the file a to the path to. It fails if the file b has another content.
func keepEqual(a, b, to string) error {
	one, err := hash(a)
	if err != nil {
		return err
	}
	other, err := hash(b)
	if err != nil {
		return err
	}
	if one != other {
		return fmt.Errorf("two builds of %s differ: %s, %s", filepath.Base(to), one, other)
	}
	fmt.Printf("%s  %s, twice\n", one, filepath.Base(to))
	return os.Rename(a, to)
}

// file returns the name of a binary.
func (p platform) file(m Module, version string) string {
	name := strings.Join([]string{path.Base(m.Name), version, p.system, p.architecture}, "_")
	if p.system == "windows" {
		name += ".exe"
	}
	return name
}

// newBuilder returns a user with empty caches and a proxy of files in dir that has m.
func newBuilder(ctx context.Context, m Module, version, dir string) (users, error) {
	if err := WriteProxy(filepath.Join(dir, "proxy"), m, version); err != nil {
		return users{}, err
	}
	u, err := newUsers(ctx, dir, version)
	u.env = append(u.env, "GOPATH="+filepath.Join(dir, "go"), "GOBIN=", "GOCACHE="+filepath.Join(dir, "build"),
		"CGO_ENABLED=0", "GOAMD64=", "GOARM64=", "GOEXPERIMENT=", "GOFIPS140=")
	return u, err
}

// build installs the command m for a platform, as users can, and returns the file.
func (u users) build(ctx context.Context, m Module, p platform) (string, error) {
	u.env = append(u.env, "GOOS="+p.system, "GOARCH="+p.architecture)
	if _, err := u.run(ctx, u.dir, "go", "install", m.Path()+"@"+u.version); err != nil {
		return "", err
	}
	bin := filepath.Join(u.dir, "go", "bin")
	if p != (platform{runtime.GOOS, runtime.GOARCH}) {
		bin = filepath.Join(bin, p.system+"_"+p.architecture)
	}
	name := path.Base(m.Name)
	if p.system == "windows" {
		name += ".exe"
	}
	return filepath.Join(bin, name), nil
}

// writeLicences writes the licences of all that is linked into the command m, which have to go
// with binaries.
func writeLicences(ctx context.Context, m Module, name string) error {
	linked, err := Linked(ctx, m)
	if err != nil {
		return err
	}
	library, err := output(ctx, m.Dir, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	linked[m.Path()].Dir = m.Root
	linked["the Go standard library"] = &Dependency{Path: "the Go standard library", Dir: strings.TrimSpace(library)}
	var b strings.Builder
	for _, d := range sorted(linked) {
		files, err := LicenceFiles(d.Dir)
		if err != nil {
			return err
		}
		notices, err := NoticeFiles(d.Dir)
		if err != nil {
			return err
		}
		for _, file := range append(files, notices...) {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "==== %s\n\n%s\n", strings.TrimSpace(d.Path+" "+d.Version), text)
		}
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

// writeChecksums writes the hashes of all files of the folder dir, as sha256sum prints them.
func writeChecksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		sum, err := hash(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, sum+"  "+e.Name()+"\n")
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(dir, checksums), []byte(strings.Join(lines, "")), 0o644)
}

func hash(file string) (string, error) {
	data, err := os.ReadFile(file)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// sign writes the signature of a file beside it, with the suffix .sig. docs/releasing.md says how
// it is verified.
func sign(ctx context.Context, file, key string) error {
	if _, err := output(ctx, ".", "ssh-keygen", "-Y", "sign", "-n", "file", "-f", key, file); err != nil {
		return errors.Join(errors.New("the checksums are not signed"), err)
	}
	return nil
}
