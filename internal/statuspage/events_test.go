package statuspage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A listener is a client of the event stream that can pause its reading.
type listener struct {
	header http.Header
	reads  chan struct{} // has an element while the client reads

	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *listener) Header() http.Header { return l.header }
func (l *listener) WriteHeader(int)     {}
func (l *listener) Flush()              {}

func (l *listener) Write(b []byte) (int, error) {
	<-l.reads
	defer func() { l.reads <- struct{}{} }()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func newListener() *listener {
	l := &listener{header: http.Header{}, reads: make(chan struct{}, 1)}
	l.reads <- struct{}{}
	return l
}

// heard returns the text received since the last call.
func (l *listener) heard() string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// versions returns the versions of the snapshots in a stream.
func versions(t *testing.T, stream string) []uint64 {
	t.Helper()
	var all []uint64
	for line := range strings.Lines(stream) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var s Snapshot
			require.NoError(t, json.Unmarshal([]byte(data), &s))
			all = append(all, s.Version)
		}
	}
	return all
}

// listening streams f to a listener in a bubble. hangUp ends the request and waits until it is
// handled.
func listening(t *testing.T, test func(t *testing.T, f *fake, l *listener, hangUp func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f, l := newFake(), newListener()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			New(f, Options{}).ServeHTTP(l, httptest.NewRequestWithContext(ctx, "GET", "/events", nil))
		}()
		hangUp := func() {
			cancel()
			<-done
		}
		defer hangUp()
		test(t, f, l, hangUp)
	})
}

func TestAStreamBeginsWithTheSnapshotAndFollowsChanges(t *testing.T) {
	listening(t, func(t *testing.T, f *fake, l *listener, _ func()) {
		first := l.heard()
		require.True(t, strings.HasPrefix(first, "retry: 2000\n\nevent: status\nid: 1\ndata: {"), first)
		require.True(t, strings.HasSuffix(first, "}\n\n"))
		require.Equal(t, "text/event-stream", l.header.Get("Content-Type"))
		f.change(func(s *Snapshot) { s.Leader = "a" })
		second := l.heard()
		require.Equal(t, []uint64{2}, versions(t, second))
		require.Contains(t, second, `"leader":"a"`)
	})
}

func TestWhatChangesWithoutANewVersionIsSeenWithinHalfASecond(t *testing.T) {
	listening(t, func(t *testing.T, f *fake, l *listener, _ func()) {
		l.heard()
		f.quietly(func(s *Snapshot) { s.Singletons = []Singleton{{Name: "one", Here: true}} })
		require.Empty(t, l.heard())
		time.Sleep(500 * time.Millisecond)
		require.Contains(t, l.heard(), `"name":"one"`)
	})
}

func TestAQuietStreamSaysEvery15SecondsThatItLives(t *testing.T) {
	listening(t, func(t *testing.T, f *fake, l *listener, _ func()) {
		l.heard()
		f.quietly(func(s *Snapshot) { s.Time, s.DeadLetters = time.Now(), map[string]uint64{"terminated": 1} }) // no change
		time.Sleep(time.Minute)
		require.Equal(t, strings.Repeat(": alive\n\n", 4), l.heard())
	})
}

func TestASlowReaderMissesVersionsButNotTheLatest(t *testing.T) {
	listening(t, func(t *testing.T, f *fake, l *listener, _ func()) {
		l.heard()
		<-l.reads
		f.change(func(*Snapshot) {})
		time.Sleep(time.Second) // version 2 is being sent
		for range 100 {
			f.change(func(*Snapshot) {})
			time.Sleep(time.Second)
		}
		l.reads <- struct{}{}
		require.Equal(t, []uint64{2, 102}, versions(t, l.heard()))
	})
}

func TestAStreamEndsWithItsRequest(t *testing.T) {
	listening(t, func(t *testing.T, f *fake, l *listener, hangUp func()) {
		l.heard()
		hangUp() // then the bubble ends, so no goroutine is left
		f.change(func(*Snapshot) {})
		time.Sleep(time.Hour)
		require.Empty(t, l.heard())
	})
}

func TestAStreamEndsWithTheLastSnapshotOfANodeThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFake(), newListener()
		done := make(chan struct{})
		go func() {
			defer close(done)
			New(f, Options{}).ServeHTTP(l, httptest.NewRequest("GET", "/events", nil))
		}()
		l.heard()
		f.quietly(func(s *Snapshot) { s.Version = 9 })
		f.end()
		<-done
		require.Equal(t, []uint64{9}, versions(t, l.heard()))
	})
}

// A door is a listener that accepts one connection.
type door struct {
	conn chan net.Conn
	once sync.Once
}

func (d *door) Accept() (net.Conn, error) {
	c, open := <-d.conn
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (d *door) Close() error {
	d.once.Do(func() { close(d.conn) })
	return nil
}

func (d *door) Addr() net.Addr { return &net.TCPAddr{} }

// serving runs a server whose answers may take a second, and passes a connection to test. handled
// is closed when the request on it has been handled.
func serving(t *testing.T, test func(t *testing.T, client net.Conn, handled <-chan struct{})) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		handled := make(chan struct{})
		page := New(newFake(), Options{})
		server := &http.Server{WriteTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(handled)
			page.ServeHTTP(w, r)
		})}
		client, inside := net.Pipe()
		d := &door{conn: make(chan net.Conn, 1)}
		d.conn <- inside
		done := make(chan error)
		go func() { done <- server.Serve(d) }()
		_, err := client.Write([]byte("GET /events HTTP/1.1\r\nHost: n1\r\n\r\n"))
		require.NoError(t, err)
		test(t, client, handled)
		require.NoError(t, client.Close())
		<-handled
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-done, http.ErrServerClosed)
	})
}

func TestAStreamOutlivesTheWriteTimeoutOfItsServer(t *testing.T) {
	serving(t, func(t *testing.T, client net.Conn, handled <-chan struct{}) {
		in := bufio.NewScanner(client)
		for range 20 { // five minutes
			for in.Scan() && in.Text() != ": alive" {
			}
			require.Equal(t, ": alive", in.Text())
		}
	})
}

func TestAClientThatNeverReadsIsDroppedAfterHalfAMinute(t *testing.T) {
	serving(t, func(t *testing.T, _ net.Conn, handled <-chan struct{}) {
		start := time.Now()
		<-handled
		require.Equal(t, 30*time.Second, time.Since(start))
	})
}
