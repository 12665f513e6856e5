package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/jetstream/internal/patient"
)

// Durability says what the servers do before they acknowledge. You must choose it, because a client
// cannot see it; see the package documentation.
type Durability int

const (
	// SyncAlways says that the configuration of every server has sync_interval: always.
	// Acknowledged data is on the disk.
	SyncAlways Durability = 1 + iota
	// DeferredSync says that some server does not sync always. If all servers that store a message
	// lose power or their machine, acknowledged data may be lost: by default, the data of the last
	// two minutes.
	DeferredSync
)

// A Config has the settings of a journal.
type Config struct {
	// Stream is the name of the stream, and the prefix of its subjects: letters, digits, '-' and
	// '_'. A second stream, with the suffix _LARGE, has data that does not fit into one message.
	// Open creates both if they do not exist. Required.
	Stream string

	// Durability says what the servers do before they acknowledge. Required.
	Durability Durability

	// Replicas is the number of servers that store each message: 1, 3 or 5. Zero means 3.
	Replicas int

	// Domain is the JetStream domain. Empty means the domain of the server.
	Domain string

	// AcceptLoss opens a stream even if its end is lost, as after damage to a file. Ids continue
	// after their last remaining event; a reader that has read further, such as a projection, may
	// miss the next events. False refuses such a stream with [journal.ErrCorrupt].
	AcceptLoss bool

	// System is a connection to the system account of the servers. With it and SyncAlways, Open
	// asks the servers whether they always sync, and fails if one does not. Nil skips this check.
	System *nats.Conn
}

var streamName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)

func (c *Config) validate() error {
	switch {
	case !streamName.MatchString(c.Stream):
		return fmt.Errorf("jetstream: Config.Stream is %q; it must be 1 to 200 letters, digits, '-' and '_'", c.Stream)
	case c.Durability != SyncAlways && c.Durability != DeferredSync:
		return errors.New("jetstream: Config.Durability is not set; choose SyncAlways if all servers have sync_interval: always, else DeferredSync, which can lose what was acknowledged")
	case c.Replicas < 0:
		return fmt.Errorf("jetstream: Config.Replicas is %d", c.Replicas)
	}
	return nil
}

// Open opens the journal in the streams of config, and creates them if they do not exist. It fails
// if the streams exist with settings that a journal cannot use, for example if they drop old
// messages. While no server answers, as during the election of a leader, it waits for 30 s at most.
// Close the connection yourself, after the journal.
func Open(ctx context.Context, nc *nats.Conn, config Config) (*Journal, error) {
	if nc == nil {
		return nil, errors.New("jetstream: Open needs a connection; make one with nats.Connect")
	}
	if config.Replicas == 0 {
		config.Replicas = 3
	}
	if err := config.validate(); err != nil {
		return nil, err
	}
	client, err := newClient(nc, config.Domain)
	if err != nil {
		return nil, fmt.Errorf("jetstream: open %s: %w", config.Stream, err)
	}
	if err := config.checkServers(ctx); err != nil {
		return nil, fmt.Errorf("jetstream: open %s: %w", config.Stream, err)
	}
	j := newJournal(nc, config)
	for _, want := range []js.StreamConfig{config.events(), config.large()} {
		stream, err := patient.Ask(ctx, nc, func(ctx context.Context) (js.Stream, error) {
			return ensure(ctx, client, want, config.Durability)
		})
		if err != nil {
			return nil, fmt.Errorf("jetstream: open %s: %w", want.Name, err)
		}
		j.streams[want.Name] = stream
	}
	if j.inbox, err = newInbox(nc); err != nil {
		return nil, fmt.Errorf("jetstream: open %s: %w", config.Stream, err)
	}
	if err := j.listener.listen(nc, j.subjects.pause(), j.pauseWrites); err != nil {
		return nil, errors.Join(fmt.Errorf("jetstream: open %s: %w", config.Stream, err), j.Close())
	}
	if !config.AcceptLoss {
		if err := j.checkEnd(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("jetstream: open %s: %w", config.Stream, err), j.Close())
		}
	}
	return j, nil
}

func newClient(nc *nats.Conn, domain string) (js.JetStream, error) {
	if domain == "" {
		return js.New(nc)
	}
	return js.NewWithDomain(nc, domain)
}

func (c *Config) events() js.StreamConfig {
	s := subjects{root: c.Stream}
	return c.stream(c.Stream, "events of persistence ids", s.entities(), s.cut())
}

func (c *Config) large() js.StreamConfig {
	return c.stream(c.Stream+"_LARGE", "snapshots and large events of "+c.Stream, c.Stream+".r.*", c.Stream+".s.*")
}

func (c *Config) stream(name, description string, subjects ...string) js.StreamConfig {
	return js.StreamConfig{
		Name: name, Description: description, Subjects: subjects,
		Retention: js.LimitsPolicy, Discard: js.DiscardNew, Storage: js.FileStorage,
		MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1, MaxMsgSize: -1, MaxConsumers: -1,
		Replicas: c.Replicas, AllowDirect: true,
	}
}

// ensure returns the stream, and creates it if it does not exist. Concurrent calls create the same
// stream.
func ensure(ctx context.Context, client js.JetStream, want js.StreamConfig, durability Durability) (js.Stream, error) {
	stream, err := client.Stream(ctx, want.Name)
	if errors.Is(err, js.ErrStreamNotFound) {
		stream, err = client.CreateStream(ctx, want)
		if errors.Is(err, js.ErrStreamNameAlreadyInUse) {
			stream, err = client.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return nil, err
	}
	have := stream.CachedInfo().Config
	if problems := unsuitable(&have, &want, durability); len(problems) > 0 {
		return nil, fmt.Errorf("the stream does not suit a journal: %w", errors.Join(problems...))
	}
	return stream, nil
}

// unsuitable returns why a journal cannot use a stream. Its administrator may limit its bytes, move
// it and describe it.
func unsuitable(have, want *js.StreamConfig, durability Durability) []error {
	var problems []error
	for _, c := range []struct {
		bad  bool
		what string
	}{
		{!slices.Equal(slices.Sorted(slices.Values(have.Subjects)), slices.Sorted(slices.Values(want.Subjects))), fmt.Sprintf("subjects are %q, not %q", have.Subjects, want.Subjects)},
		{have.Storage != js.FileStorage, "storage is not file"},
		{have.Retention != js.LimitsPolicy, "retention is not limits"},
		{have.Discard != js.DiscardNew, "discard is not new: it would drop events when it is full"},
		{have.MaxAge != 0, "max age is set: it would drop events"},
		{have.MaxMsgs > 0 || have.MaxMsgsPerSubject > 0, "the number of messages is limited"},
		{have.Replicas != want.Replicas, fmt.Sprintf("it has %d replicas, Config.Replicas is %d", have.Replicas, want.Replicas)},
		{!have.AllowDirect, "direct gets are not allowed"},
		{have.NoAck, "it does not acknowledge"},
		{have.Sealed, "it is sealed"},
		{have.DenyPurge, "purge is denied"},
		{have.Mirror != nil || len(have.Sources) > 0 || have.SubjectTransform != nil, "it copies or renames messages"},
		{have.PersistMode != js.DefaultPersistMode && durability != DeferredSync, "persist mode is async, which Config.Durability does not allow: choose DeferredSync by name"},
	} {
		if c.bad {
			problems = append(problems, errors.New(c.what))
		}
	}
	return problems
}

const serversPatience = 300 * time.Millisecond

// checkServers asks all servers of the system account how they sync.
func (c *Config) checkServers(ctx context.Context) error {
	if c.System == nil || c.Durability == DeferredSync {
		return nil
	}
	inbox := nats.NewInbox()
	answers, err := c.System.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = answers.Unsubscribe() }()
	if err := c.System.PublishRequest("$SYS.REQ.SERVER.PING.JSZ", inbox, nil); err != nil {
		return err
	}
	seen := 0
	for {
		wait, cancel := context.WithTimeout(ctx, serversPatience)
		answer, err := answers.NextMsgWithContext(wait)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && seen == 0:
			return fmt.Errorf("Config.System got no answer from a server with JetStream; is it of the system account? %w", err)
		case err != nil:
			return nil // no more answers
		}
		uses, err := checkServer(answer.Data)
		if err != nil {
			return err
		}
		if uses {
			seen++
		}
	}
}

// checkServer judges the answer of one server, if it uses JetStream.
func checkServer(answer []byte) (uses bool, err error) {
	var info struct {
		Server struct {
			Name string `json:"name"`
		} `json:"server"`
		Data struct {
			Disabled bool `json:"disabled"`
			Config   struct {
				SyncAlways bool `json:"sync_always"`
			} `json:"config"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &info); err != nil {
		return false, err
	}
	if info.Data.Disabled {
		return false, nil
	}
	if !info.Data.Config.SyncAlways {
		return false, errors.New("server " + info.Server.Name + " has no sync_interval: always, which Config.Durability promises; set it, or choose DeferredSync")
	}
	return true, nil
}
