package outside_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// A bucket is an object store that implements conditional writes as S3 does.
type bucket struct {
	objects map[string]stored
	before  func() // each write, once
	puts    int
}

type stored struct {
	data   []byte
	header http.Header
	etag   string
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := b.before; f != nil && r.Method == http.MethodPut {
		b.before = nil
		f()
	}
	o, exists := b.objects[r.URL.Path]
	if r.Method == http.MethodGet {
		if !exists {
			http.NotFound(w, r)
			return
		}
		maps.Copy(w.Header(), o.header)
		w.Header().Set("ETag", o.etag)
		_, _ = w.Write(o.data)
		return
	}
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	if match != "" && (!exists || match != o.etag) || none == "*" && exists {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	b.puts++
	header := http.Header{}
	for name, values := range r.Header {
		if len(name) > 11 && name[:11] == "X-Amz-Meta-" {
			header[name] = values
		}
	}
	b.objects[r.URL.Path] = stored{data, header, strconv.Quote(fmt.Sprint("v", b.puts))}
}

// objects is the client of a bucket.
type objects struct{ client *http.Client }

func (o objects) do(ctx context.Context, method, name string, body []byte, set map[string]string) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://s3.example/"+name, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for name, value := range set {
		r.Header.Set(name, value)
	}
	res, err := o.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return res, data, err
}

func (o objects) Get(ctx context.Context, name string) (outside.Object, string, error) {
	res, data, err := o.do(ctx, http.MethodGet, name, nil, nil)
	if err != nil || res.StatusCode == http.StatusNotFound {
		return outside.Object{}, "", err
	}
	token, _ := strconv.ParseUint(res.Header.Get("X-Amz-Meta-Token"), 10, 64)
	return outside.Object{Data: data, Writer: outside.Caller{
		Key: res.Header.Get("X-Amz-Meta-Key"), Scope: res.Header.Get("X-Amz-Meta-Scope"), Token: token,
	}}, res.Header.Get("ETag"), nil
}

func (o objects) Put(ctx context.Context, name string, object outside.Object, version string) error {
	set := map[string]string{
		"X-Amz-Meta-Key": object.Writer.Key, "X-Amz-Meta-Scope": object.Writer.Scope,
		"X-Amz-Meta-Token": strconv.FormatUint(object.Writer.Token, 10), "If-Match": version,
	}
	if version == "" {
		delete(set, "If-Match")
		set["If-None-Match"] = "*"
	}
	res, _, err := o.do(ctx, http.MethodPut, name, object.Data, set)
	switch {
	case err != nil:
		return err
	case res.StatusCode == http.StatusPreconditionFailed:
		return outside.ErrChanged
	}
	return nil
}

func newBucket() (*bucket, objects) {
	b := &bucket{objects: map[string]stored{}}
	return b, objects{&http.Client{Transport: base{b}}}
}

// asCaller calls f behind a Handler, with the context of that caller.
func asCaller(t *testing.T, c outside.Caller, f func(ctx context.Context)) {
	t.Helper()
	h := outside.Handler(outside.NewMemory(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { f(r.Context()) }))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://h.example/", http.NoBody)
	require.NoError(t, err)
	r.Header.Set(outside.KeyHeader, c.Key)
	r.Header.Set(outside.ScopeHeader, c.Scope)
	r.Header.Set(outside.TokenHeader, strconv.FormatUint(c.Token, 10))
	res, err := base{h}.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
}

// line appends to an object.
func line(text string) func([]byte) ([]byte, error) {
	return func(old []byte) ([]byte, error) { return append(old, text...), nil }
}

func TestAnObjectIsChangedOnceForAStep(t *testing.T) {
	b, in := newBucket()
	for range 3 {
		asCaller(t, outside.Caller{Key: "a", Scope: "order|1", Token: 1}, func(ctx context.Context) {
			require.NoError(t, outside.Update(ctx, in, "log", line("a")))
		})
	}
	asCaller(t, outside.Caller{Key: "b", Scope: "order|1", Token: 1}, func(ctx context.Context) {
		require.NoError(t, outside.Update(ctx, in, "log", line("b")))
	})
	require.Equal(t, "ab", string(b.objects["/log"].data))
}

func TestAReplacedProcessChangesNoObject(t *testing.T) {
	b, in := newBucket()
	// The successor writes between the read and the write of the former process.
	b.before = func() {
		asCaller(t, outside.Caller{Key: "b", Scope: "order|1", Token: 8}, func(ctx context.Context) {
			require.NoError(t, outside.Update(ctx, in, "log", line("b")))
		})
	}
	for _, key := range []string{"a", "b"} {
		asCaller(t, outside.Caller{Key: key, Scope: "order|1", Token: 7}, func(ctx context.Context) {
			require.ErrorIs(t, outside.Update(ctx, in, "log", line("a")), outside.ErrReplaced)
		})
	}
	require.Equal(t, "b", string(b.objects["/log"].data))
}

func TestAnObjectThatSomebodyElseChangesMeanwhileIsReadAgain(t *testing.T) {
	b, in := newBucket()
	b.objects["/log"] = stored{data: []byte("1"), etag: `"x"`}
	b.before = func() { b.objects["/log"] = stored{data: []byte("2"), etag: `"y"`} }
	asCaller(t, outside.Caller{Key: "a", Scope: "order|1", Token: 1}, func(ctx context.Context) {
		require.NoError(t, outside.Update(ctx, in, "log", line("a")))
	})
	require.Equal(t, "2a", string(b.objects["/log"].data))
}

func TestAnObjectOfAnotherRunIsRefused(t *testing.T) {
	_, in := newBucket()
	asCaller(t, outside.Caller{Key: "a", Scope: "order|1", Token: 1}, func(ctx context.Context) {
		require.NoError(t, outside.Update(ctx, in, "log", line("a")))
	})
	asCaller(t, outside.Caller{Key: "a", Scope: "order|2", Token: 9}, func(ctx context.Context) {
		err := outside.Update(ctx, in, "log", line("a"))
		require.ErrorIs(t, err, outside.ErrOtherRun)
		require.ErrorContains(t, err, "log was written by order|1")
	})
}

func TestAnErrorOfAChangeChangesNothing(t *testing.T) {
	b, in := newBucket()
	broken := errors.New("broken")
	asCaller(t, outside.Caller{Key: "a", Scope: "order|1", Token: 1}, func(ctx context.Context) {
		require.ErrorIs(t, outside.Update(ctx, in, "log", func([]byte) ([]byte, error) { return nil, broken }), broken)
	})
	require.Empty(t, b.objects)
	require.ErrorIs(t, outside.Update(t.Context(), in, "log", line("a")), outside.ErrNoStep)
}
