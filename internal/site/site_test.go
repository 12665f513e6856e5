package site

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/browser"
)

var folder = flag.String("site", "", "the folder of the site that was built")

const (
	narrow = 390  // a phone
	wide   = 1440 // a screen with the outline of the page beside it

	// loaded is true in a page that runs and has drawn its diagrams.
	loaded = `document.querySelector("#app")._vnode && [...document.querySelectorAll(".diagram")].every((d) => d.querySelector("svg"))`
)

// serve serves the site on the loopback interface, as GitHub Pages does: a page needs no ".html".
func serve(t *testing.T) string {
	t.Helper()
	if *folder == "" {
		t.Skip("make site-check builds the site and runs this test")
	}
	dir := http.Dir(*folder)
	files := http.FileServer(dir)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := strings.TrimSuffix(r.URL.Path, "/") + ".html"
		if f, err := dir.Open(page); err == nil {
			_ = f.Close()
			r.URL.Path = page
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}

// pages returns the paths of the pages of the site.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	require.NoError(t, fs.WalkDir(os.DirFS(*folder), ".", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".html" && name != "404.html" {
			all = append(all, "/"+strings.TrimSuffix(strings.TrimSuffix(name, ".html"), "index"))
		}
		return err
	}))
	require.Greater(t, len(all), 40)
	return all
}

// A page says where it is as Markdown.
func TestEachPageIsThereAsMarkdown(t *testing.T) {
	url := serve(t)
	alternate := regexp.MustCompile(`<link rel="alternate" type="text/markdown" href="([^"]+)">`)
	for _, page := range pages(t) {
		found := alternate.FindStringSubmatch(get(t, url+page))
		require.NotNil(t, found, page)
		require.Regexp(t, `(?m)^# `, get(t, url+found[1]), page)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode, url)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(body)
}

func TestNoPageIsWiderThanAPhone(t *testing.T) {
	url := serve(t)
	b := browser.Start(t)
	titles := map[any]string{}
	for _, page := range pages(t) {
		b.Open(url+page, narrow, 800, loaded)
		width := b.Eval(`Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)`)
		require.EqualValues(t, narrow, width, "%s scrolls sideways: %v", page, b.Eval(`[...document.querySelectorAll(".vp-doc *")]
			.filter((e) => e.getBoundingClientRect().right > innerWidth && !e.closest(".table, .diagram, pre, .VPNav, [class*=language-]")).map((e) => e.outerHTML.slice(0, 200)).slice(0, 3)`))
		require.Empty(t, b.Eval(`[...document.querySelectorAll(".diagram foreignObject")]
			.filter((f) => f.firstElementChild?.scrollHeight > f.height.baseVal.value + 2).map((f) => f.textContent)`), "%s cuts off texts of its diagrams", page)
		title := b.Eval(`document.title`)
		require.Regexp(t, `^.{3,} \| Understudy$`, title, page)
		require.Empty(t, titles[title], "%s has the title of another page", page)
		titles[title] = page
	}
}

// VitePress checks that pages exist, but no anchors.
func TestEveryLinkToAHeadingLeadsToOne(t *testing.T) {
	url := serve(t)
	b := browser.Start(t)
	headings := map[string]bool{}
	links := map[string]string{}
	for _, page := range pages(t) {
		b.Open(url+page, wide, 900, loaded)
		ids, _ := b.Eval(`[...document.querySelectorAll(".vp-doc [id]")].map((e) => location.pathname + "#" + e.id)`).([]any)
		for _, id := range ids {
			headings[fmt.Sprint(id)] = true
		}
		targets, _ := b.Eval(`[...document.querySelectorAll(".vp-doc a[href*='#']")].filter((a) => a.origin === location.origin).map((a) => a.pathname + decodeURIComponent(a.hash))`).([]any)
		for _, target := range targets {
			links[fmt.Sprint(target)] = page
		}
	}
	require.Greater(t, len(links), 100)
	for target, page := range links {
		require.True(t, headings[target], "%s has a link to %s", page, target)
	}
}

func TestTheSearchFindsAWordOfAPage(t *testing.T) {
	url := serve(t)
	b := browser.Start(t)
	for word, page := range map[string]string{"ErrFenced": "/events", "removal margin": "/glossary", "understudy_lease": "/monitoring"} {
		b.Open(url+"/", wide, 900, loaded)
		b.Eval(`document.querySelector(".DocSearch-Button").click()`)
		b.Await(`document.querySelector("#localsearch-input")`)
		b.Eval(fmt.Sprintf(`{ const i = document.querySelector("#localsearch-input"); i.value = %q; i.dispatchEvent(new Event("input", { bubbles: true })) }`, word))
		b.Await(fmt.Sprintf(`document.querySelector('.VPLocalSearchBox .result[href^=%q]')`, page))
		b.Shoot("search-" + strings.ReplaceAll(word, " ", "-"))
	}
}

// contrast returns the texts of a page whose contrast is less than 4.5, the limit of WCAG AA.
//
//go:embed contrast.js
var contrast string

func TestTextsContrastWithTheirBackgroundInBothThemes(t *testing.T) {
	url := serve(t)
	b := browser.Start(t)
	for _, page := range []string{"/", "/singleton", "/sharding", "/leases", "/monitoring", "/cluster", "/performance", "/decisions", "/contributing/"} {
		for _, dark := range []bool{false, true} {
			b.Dark(dark)
			b.Open(url+page, wide, 900, loaded)
			require.Equal(t, dark, b.Eval(`document.documentElement.classList.contains("dark")`))
			b.Shoot(fmt.Sprintf("%s-dark-%v", strings.ReplaceAll(strings.Trim(page, "/")+"-page", "/", "-"), dark))
			require.Empty(t, b.Eval(contrast), "%s, dark: %v", page, dark)
		}
	}
}
