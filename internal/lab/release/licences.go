package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// separate joins the licences of a module that has several, as in SPDX expressions.
const separate = " AND "

// allowed are the SPDX identifiers of the licences that any dependency may have: they ask no more
// of a program than that it comes with their text and notices.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

// exceptions are the dependencies that may have other licences, which docs/dependencies.md
// explains.
var exceptions = map[string][]string{
	"MPL-2.0": {
		"github.com/hashicorp/errwrap",
		"github.com/hashicorp/go-immutable-radix",
		"github.com/hashicorp/go-immutable-radix/v2",
		"github.com/hashicorp/go-multierror",
		"github.com/hashicorp/go-sockaddr",
		"github.com/hashicorp/golang-lru",
		"github.com/hashicorp/golang-lru/v2",
		"github.com/hashicorp/memberlist",
	},
	"CC-BY-4.0": {"github.com/modelcontextprotocol/go-sdk"}, // for its documentation
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)(\.txt|\.md)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^notice(\.txt|\.md)?$`)
)

// LicenceFiles returns the files in the folder of a module that have its licences.
func LicenceFiles(dir string) ([]string, error) {
	files, err := filesNamed(licenceFile, dir)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no file with a licence", dir)
	}
	return files, err
}

// NoticeFiles returns the files with notices, which the Apache License wants to be passed on. Most
// modules have none.
func NoticeFiles(dir string) ([]string, error) { return filesNamed(noticeFile, dir) }

func filesNamed(name *regexp.Regexp, dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name.MatchString(e.Name()) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

// Licence returns the licences of the module in the folder dir, as an SPDX expression. It fails if
// a quarter of a licence file or more is the text of no licence that it knows.
func Licence(dir string) (string, error) {
	files, err := LicenceFiles(dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		coverage := licensecheck.Scan(text)
		if coverage.Percent < 75 {
			return "", fmt.Errorf("%s has a licence that is not known", file)
		}
		for _, m := range coverage.Match {
			found = append(found, m.ID)
		}
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), separate), nil
}

// CheckLicence fails if the dependency may not have this licence.
func CheckLicence(dependency, licence string) error {
	for id := range strings.SplitSeq(licence, separate) {
		if !slices.Contains(allowed, id) && !slices.Contains(exceptions[id], dependency) {
			return fmt.Errorf("%s has the licence %s: use another module, or allow it in licences.go and explain it in docs/dependencies.md", dependency, licence)
		}
	}
	return nil
}
