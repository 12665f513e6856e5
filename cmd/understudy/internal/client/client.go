// Package client talks to what a program serves with node.Handler().
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// A Config says where nodes are, and how to reach them.
type Config struct {
	URLs    []string    // where programs mount node.Handler(); the first that answers is asked
	Header  http.Header // sent with each request
	User    string      // user:password for basic authentication, or ""
	CA      string      // file with certificates that https trusts beside those of the system, or ""
	Timeout time.Duration
}

// A Client asks one node after the other until one answers. It may be used by several goroutines.
type Client struct {
	bases  []*url.URL
	header http.Header
	http   http.Client
	wait   time.Duration
}

// ErrSilent means that no node answers.
var ErrSilent = errors.New("no node answers")

// ErrRefused means that a node answers, but refuses the request.
var ErrRefused = errors.New("the node refuses")

var errNoPage = errors.New("it serves no such page")

// New returns a client. It opens no connection.
func New(cfg Config) (*Client, error) {
	c := &Client{header: http.Header{}, wait: cfg.Timeout}
	for _, text := range cfg.URLs {
		base, err := parseBase(text)
		if err != nil {
			return nil, err
		}
		c.bases = append(c.bases, base)
	}
	if len(c.bases) == 0 {
		return nil, errors.New("name the URL under which a program serves node.Handler()")
	}
	maps.Copy(c.header, cfg.Header)
	if cfg.User != "" {
		user, password, ok := strings.Cut(cfg.User, ":")
		if !ok {
			return nil, errors.New("the credentials must be user:password")
		}
		r := http.Request{Header: c.header}
		r.SetBasicAuth(user, password)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() // it is one
	if cfg.CA != "" {
		pool, err := trusted(cfg.CA)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	c.http.Transport = transport
	return c, nil
}

func parseBase(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("%q is no URL such as http://127.0.0.1:8080/cluster/", text)
	}
	base.RawQuery, base.Fragment = "", ""
	if base.Path == "" {
		base.Path = "/"
	}
	return base, nil
}

func trusted(file string) (*x509.CertPool, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s has no certificate in PEM", file)
	}
	return pool, nil
}

// Each returns a client for each node.
func (c *Client) Each() []*Client {
	var all []*Client
	for _, base := range c.bases {
		one := *c
		one.bases = []*url.URL{base}
		all = append(all, &one)
	}
	return all
}

// Failed returns an error of c with the URL in its text.
func (c *Client) Failed(err error) error {
	if errors.Is(err, ErrSilent) { // which has it
		return err
	}
	return fmt.Errorf("%s: %w", c.bases[0].Redacted(), err)
}

// Status returns the snapshot of the first node that answers.
func (c *Client) Status(ctx context.Context) (s status.Snapshot, err error) {
	err = c.get(ctx, "status", nil, &s)
	if err == nil && len(s.Live) == 0 {
		err = fmt.Errorf("%w: its status has no checks; does the URL lead to node.Handler()?", ErrRefused)
	}
	return s, err
}

// Actors returns what the actors of the first node that answers do. A node of an older release
// serves nothing of it.
func (c *Client) Actors(ctx context.Context) (a status.Actors, err error) {
	err = c.getNewer(ctx, "actors", &a)
	return a, err
}

// Details returns the details of the first node that answers. A node of an older release serves
// none.
func (c *Client) Details(ctx context.Context) (d status.Details, err error) {
	err = c.getNewer(ctx, "details", &d)
	return d, err
}

// A node of an older release may not serve the path.
func (c *Client) getNewer(ctx context.Context, path string, into any) error {
	err := c.get(ctx, path, nil, into)
	if errors.Is(err, errNoPage) {
		return nil
	}
	return err
}

// DeadLetters returns dead letters of the first node that answers. Empty texts select all. limit is
// how many at most, and all if it is negative.
func (c *Client) DeadLetters(ctx context.Context, reason, recipient string, limit int) (d status.DeadLetters, err error) {
	query := url.Values{}
	if reason != "" {
		query.Set("reason", reason)
	}
	if recipient != "" {
		query.Set("recipient", recipient)
	}
	if limit >= 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	err = c.get(ctx, "dead-letters", query, &d)
	if err == nil && (d.ByReason == nil || d.Letters == nil) {
		err = fmt.Errorf("%w: its answer has no dead letters, not even an empty list; does the URL lead to node.Handler()?", ErrRefused)
	}
	for i := range d.Letters {
		d.Letters[i].Numbers = append([]string{}, d.Letters[i].Numbers...) // not null in JSON
	}
	return d, err
}

// Entity returns what an entity has stored, as the first node that answers reads it. at is the
// number of an event, a time in RFC 3339, or empty; since is the number of an event, or empty.
func (c *Client) Entity(ctx context.Context, typ, id, at, since string, events int) (e status.Entity, err error) {
	err = c.get(ctx, "entity", EntityQuery(typ, id, at, since, events), &e)
	return e, err
}

// EntityQuery is the query for an entity.
func EntityQuery(typ, id, at, since string, events int) url.Values {
	query := url.Values{"type": {typ}, "id": {id}, "events": {strconv.Itoa(events)}}
	if at != "" {
		query.Set("at", at)
	}
	if since != "" {
		query.Set("diff", since)
	}
	return query
}

// Down takes a member down.
func (c *Client) Down(ctx context.Context, member string) error {
	_, err := c.first(ctx, http.MethodPost, "actions/down", url.Values{"member": {member}})
	return err
}

// Leave makes the node leave. It must not be called with several URLs.
func (c *Client) Leave(ctx context.Context) error {
	_, err := c.first(ctx, http.MethodPost, "actions/leave", nil)
	return err
}

// Single reports whether the client has one URL only, so that each answer is of the same node.
func (c *Client) Single() bool { return len(c.bases) == 1 }

func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	body, err := c.first(ctx, http.MethodGet, path, query)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: the answer is no JSON of a node (%w); does the URL lead to node.Handler()?", ErrRefused, err)
	}
	return nil
}

func (c *Client) first(ctx context.Context, method, path string, query url.Values) ([]byte, error) {
	silent := ErrSilent
	for _, base := range c.bases {
		body, err := c.send(ctx, method, base.JoinPath(path), query)
		if err == nil || errors.Is(err, ErrRefused) || ctx.Err() != nil {
			return body, err
		}
		silent = fmt.Errorf("%w; %s: %w", silent, base.Redacted(), err)
	}
	return nil, silent
}

const mostBytes = 64 << 20

func (c *Client) send(ctx context.Context, method string, to *url.URL, query url.Values) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.wait)
	defer cancel()
	to.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, to.String(), nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(r.Header, c.header)
	if method == http.MethodPost {
		r.Header.Set("Understudy-Action", "1")
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, cause(err)
	}
	defer func() { _ = answer.Body.Close() }() // it has been read
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostBytes))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return nil, refusal(answer.StatusCode, to, body)
	}
	return body, nil
}

// The URL may have a password in it.
func cause(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

func refusal(code int, to *url.URL, body []byte) error {
	text := string(bytes.TrimSpace(body))
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	action := strings.Contains(to.Path, "/actions/")
	switch {
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%w: it wants credentials: set UNDERSTUDY_BASIC to user:password, or pass -header", ErrRefused)
	case code == http.StatusNotFound && text == "no such page" && action:
		return fmt.Errorf("%w: %w", ErrRefused, status.ErrNoActions)
	case code == http.StatusNotFound && text == "no such page":
		return fmt.Errorf("%w: %w, %s; is it of an older release?", ErrRefused, errNoPage, to.Path)
	case code == http.StatusNotFound && !action && !strings.HasSuffix(to.Path, "/entity"):
		return fmt.Errorf("%w: nothing is at %s; does the URL lead to node.Handler()?", ErrRefused, to.Redacted())
	}
	return fmt.Errorf("%w: %s (%d %s)", ErrRefused, text, code, http.StatusText(code))
}

// silent says why the other nodes do not answer. If no node answers, it returns an error.
func ofEach[T any](c *Client, get func(*Client) (T, error)) (all []T, silent []string, err error) {
	for _, one := range c.Each() {
		answer, failure := get(one)
		switch {
		case failure == nil:
			all = append(all, answer)
			continue
		case err == nil:
			err = failure
		default:
			err = fmt.Errorf("%w; %w", err, failure)
		}
		silent = append(silent, one.Failed(failure).Error())
	}
	if len(all) > 0 {
		err = nil
	}
	return all, silent, err
}

// Histories returns the history of each node that answers, and for each of the others why it does
// not. If no node answers, it returns an error.
func (c *Client) Histories(ctx context.Context) (all []status.History, silent []string, err error) {
	return ofEach(c, func(one *Client) (status.History, error) { return one.history(ctx) })
}

func (c *Client) history(ctx context.Context) (h status.History, err error) {
	err = c.get(ctx, "history", nil, &h)
	if err == nil && h.Events == nil {
		err = fmt.Errorf("%w: its answer has no events; does the URL lead to node.Handler()?", ErrRefused)
	}
	return h, err
}
