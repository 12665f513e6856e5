package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// WriteBOMs writes into the folder out which modules are linked into the command and into the
// template, as CycloneDX.
func WriteBOMs(ctx context.Context, modules []Module, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, m := range modules {
		if m.Command() || m.Name == template {
			bom, err := BOM(ctx, m, Version(modules))
			if err != nil {
				return err
			}
			if err := writeBOM(filepath.Join(out, filepath.Base(m.Name)+".cdx.json"), bom); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeBOM(name string, bom *cdx.BOM) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	return errors.Join(err, f.Close())
}

// BOM returns the bill of materials of a program. It depends on the files of the repository and on
// the version of Go, and on no time and no chance.
func BOM(ctx context.Context, program Module, version string) (*cdx.BOM, error) {
	linked, err := Linked(ctx, program)
	if err != nil {
		return nil, err
	}
	release, err := output(ctx, program.Dir, "go", "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	library := component("std", strings.TrimPrefix(strings.TrimSpace(release), "go"), cdx.ComponentTypeLibrary)
	library.Licenses = licences("BSD-3-Clause")

	bom := cdx.NewBOM()
	components, dependencies := []cdx.Component{library}, []cdx.Dependency{{Ref: library.BOMRef}}
	refs := map[string]string{}
	for _, d := range sorted(linked) {
		c, err := componentOf(d, program, version)
		if err != nil {
			return nil, err
		}
		refs[d.Path] = c.BOMRef
		if d.Path == program.Path() {
			bom.Metadata = &cdx.Metadata{Component: &c}
		} else {
			components = append(components, c)
		}
	}
	for _, d := range sorted(linked) {
		uses := []string{library.BOMRef}
		for path := range d.Uses {
			uses = append(uses, refs[path])
		}
		slices.Sort(uses)
		dependencies = append(dependencies, cdx.Dependency{Ref: refs[d.Path], Dependencies: &uses})
	}
	bom.Components, bom.Dependencies = &components, &dependencies
	return bom, nil
}

// componentOf describes a module, which is the program itself or linked into it.
func componentOf(d *Dependency, program Module, version string) (cdx.Component, error) {
	if d.Version != "" && !isOurs(d.Path) {
		version = d.Version
	}
	kind, dir := cdx.ComponentTypeLibrary, d.Dir
	if d.Path == program.Path() {
		kind = cdx.ComponentTypeApplication
	}
	if isOurs(d.Path) || d.Path == program.Path() {
		dir = program.Root // it has the licence of the repository
	}
	c := component(d.Path, version, kind)
	id, err := Licence(dir)
	if err != nil {
		return c, err
	}
	c.Licenses = licences(id)
	if sum, found := strings.CutPrefix(d.Sum, "h1:"); found {
		raw, err := base64.StdEncoding.DecodeString(sum)
		if err != nil {
			return c, err
		}
		// Like cyclonedx-gomod, and because the format has no name for the hash of a folder.
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
	}
	return c, nil
}

func component(path, version string, kind cdx.ComponentType) cdx.Component {
	url := "pkg:golang/" + path + "@" + version + "?type=module"
	return cdx.Component{BOMRef: url, Type: kind, Name: path, Version: version, PackageURL: url}
}

func licences(expression string) *cdx.Licenses {
	if strings.Contains(expression, separate) {
		return &cdx.Licenses{{Expression: expression}}
	}
	return &cdx.Licenses{{License: &cdx.License{ID: expression}}}
}
