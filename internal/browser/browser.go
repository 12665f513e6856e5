// Package browser drives a headless Chromium in tests.
package browser

import (
	"bufio"
	_ "embed" // await.js
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
)

// A Browser is a headless Chromium with one page, driven by its DevTools protocol over pipes. Its
// methods fail the test if the browser does not answer.
type Browser struct {
	t       *testing.T
	to      io.Writer
	session string

	mu      sync.Mutex
	last    int
	waiting map[int]chan answer
}

// Params are the parameters of a call of the DevTools protocol.
type Params = map[string]any

type (
	command struct {
		ID      int    `json:"id"`
		Session string `json:"sessionId,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}
	answer struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
)

// Start starts a browser that ends with the test. Without a browser on the machine it skips the
// test, or fails it if UNDERSTUDY_REQUIRE_SERVICES is set.
func Start(t *testing.T) *Browser {
	t.Helper()
	path, err := lookFor("chromium", "chromium-browser", "google-chrome")
	if err != nil {
		needs.Missing(t, "install Chromium (Debian: chromium) to run this test: %v", err)
	}
	profile, err := os.MkdirTemp("", "browser") //nolint:usetesting // helpers of the browser may write there after it has ended
	require.NoError(t, err)
	theirIn, ourOut, err := os.Pipe()
	require.NoError(t, err)
	ourIn, theirOut, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--no-first-run", "--hide-scrollbars", "--user-data-dir="+profile,
		"--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // descriptors 3 and 4
	require.NoError(t, cmd.Start())
	require.NoError(t, errors.Join(theirIn.Close(), theirOut.Close()))
	b := &Browser{t: t, to: ourOut, waiting: map[int]chan answer{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.listen(ourIn)
	}()
	t.Cleanup(func() {
		_, _ = b.call("Browser.close", Params{})
		_ = cmd.Wait() // the test ends it in any case
		<-ended
		_ = errors.Join(ourOut.Close(), ourIn.Close())
		require.Eventually(t, func() bool { return os.RemoveAll(profile) == nil }, 20*time.Second, 50*time.Millisecond, //nolint:forbidigo // a real browser
			"the browser's helpers end a little later than it does")
	})
	var made struct{ TargetID string }
	b.Must("Target.createTarget", Params{"url": "about:blank"}, &made)
	var attached struct{ SessionID string }
	b.Must("Target.attachToTarget", Params{"targetId": made.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	return b
}

func lookFor(names ...string) (path string, err error) {
	for _, name := range names {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

// listen ends with the browser.
func (b *Browser) listen(from io.Reader) {
	in := bufio.NewReader(from)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			break
		}
		var a answer
		if json.Unmarshal(text[:len(text)-1], &a) == nil && a.ID != 0 {
			b.mu.Lock()
			b.waiting[a.ID] <- a
			delete(b.waiting, a.ID)
			b.mu.Unlock()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, w := range b.waiting {
		close(w)
		delete(b.waiting, id)
	}
}

func (b *Browser) call(method string, p Params) (json.RawMessage, error) {
	b.mu.Lock()
	b.last++
	text, err := json.Marshal(command{ID: b.last, Session: b.session, Method: method, Params: p})
	back := make(chan answer, 1)
	b.waiting[b.last] = back
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case a, ok := <-back:
		if !ok {
			return nil, errors.New("the browser has ended")
		}
		if a.Error != nil {
			return nil, errors.New(string(a.Error))
		}
		return a.Result, nil
	case <-time.After(30 * time.Second):
		return nil, errors.New("the browser does not answer")
	}
}

// Must calls a method of the protocol, and stores its answer in result unless that is nil.
func (b *Browser) Must(method string, p Params, result any) {
	b.t.Helper()
	text, err := b.call(method, p)
	require.NoError(b.t, err, method)
	if result != nil {
		require.NoError(b.t, json.Unmarshal(text, result), method)
	}
}

// Open opens a page in a window of the given size, and waits until an expression is true in it.
func (b *Browser) Open(url string, width, height int, until string) {
	b.t.Helper()
	b.Must("Emulation.setDeviceMetricsOverride", Params{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.Must("Page.navigate", Params{"url": url}, nil)
	b.Await(until)
}

// Eval returns the value of an expression in the page. It waits for a promise.
func (b *Browser) Eval(expression string) any {
	b.t.Helper()
	var got struct {
		Result struct{ Value any }
		Failed *struct{ Text string } `json:"exceptionDetails"`
	}
	b.Must("Runtime.evaluate", Params{"expression": expression, "awaitPromise": true, "returnByValue": true}, &got)
	require.Nil(b.t, got.Failed, expression)
	return got.Result.Value
}

// Count returns how many elements of the page match a selector.
func (b *Browser) Count(selector string) int {
	b.t.Helper()
	n, _ := b.Eval(fmt.Sprintf("document.querySelectorAll(%q).length", selector)).(float64)
	return int(n)
}

//go:embed await.js
var watch string

// Await waits until an expression is true in the page. It evaluates it again after each change of
// the page, and every 100 ms because a script can change what the page does not show.
func (b *Browser) Await(expression string) {
	b.t.Helper()
	before, after, _ := strings.Cut(watch, "EXPRESSION")
	if ok := b.Eval(before + expression + after); ok != true {
		require.Fail(b.t, "the page does not come to it", "%s\n%v", expression, b.Eval("document.body.innerText"))
	}
}

// Dark switches the page between dark and light.
func (b *Browser) Dark(yes bool) {
	b.t.Helper()
	scheme := "light"
	if yes {
		scheme = "dark"
	}
	b.Must("Emulation.setEmulatedMedia", Params{"features": []Params{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Shoot stores a screenshot of the page as an artifact of the test: go test -artifacts.
func (b *Browser) Shoot(name string) {
	b.t.Helper()
	var got struct{ Data string }
	b.Must("Page.captureScreenshot", Params{"format": "png"}, &got)
	picture, err := base64.StdEncoding.DecodeString(got.Data)
	require.NoError(b.t, err)
	file := filepath.Join(b.t.ArtifactDir(), name+".png")
	require.NoError(b.t, os.WriteFile(file, picture, 0o600))
	b.t.Log("screenshot: ", file)
}
