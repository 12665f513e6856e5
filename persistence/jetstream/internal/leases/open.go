package leases

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/understudy-go/understudy/persistence/jetstream/internal/patient"
)

// A Config names the bucket. The zero values have been replaced.
type Config struct {
	Bucket   string
	Replicas int
	Domain   string
}

var bucketName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)

// Open opens or creates the bucket.
func Open(ctx context.Context, nc *nats.Conn, config Config) (*Store, error) {
	switch {
	case nc == nil:
		return nil, errors.New("jetstream: OpenLeases needs a connection; make one with nats.Connect")
	case !bucketName.MatchString(config.Bucket):
		return nil, fmt.Errorf("jetstream: LeasesConfig.Bucket is %q; it must be 1 to 200 letters, digits, '-' and '_'", config.Bucket)
	case config.Replicas < 0:
		return nil, fmt.Errorf("jetstream: LeasesConfig.Replicas is %d; set 1, 3 or 5", config.Replicas)
	}
	b, err := patient.Ask(ctx, nc, func(ctx context.Context) (*keyValue, error) { return openBucket(ctx, nc, config) })
	if err != nil {
		return nil, fmt.Errorf("jetstream: open bucket %s: %w", config.Bucket, err)
	}
	return &Store{bucket: b}, nil
}

func openBucket(ctx context.Context, nc *nats.Conn, config Config) (*keyValue, error) {
	js, api, err := jetStream(nc, config.Domain)
	if err != nil {
		return nil, err
	}
	kv, err := js.KeyValue(ctx, config.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = create(ctx, js, config)
	}
	if err != nil {
		return nil, err
	}
	// Check a bucket that was just created as well: another process may have created it.
	stream, err := js.Stream(ctx, "KV_"+config.Bucket)
	if err != nil {
		return nil, err
	}
	have := stream.CachedInfo().Config
	if problems := unsuitable(&have, config); len(problems) > 0 {
		return nil, fmt.Errorf("it does not suit leases: %w", errors.Join(problems...))
	}
	return &keyValue{nc: nc, kv: kv, api: api}, nil
}

func jetStream(nc *nats.Conn, domain string) (js jetstream.JetStream, api string, err error) {
	if domain == "" {
		js, err = jetstream.New(nc)
		return js, jetstream.DefaultAPIPrefix, err
	}
	js, err = jetstream.NewWithDomain(nc, domain)
	return js, "$JS." + domain + ".API.", err
}

// create creates the bucket. If another process creates it at the same time with another number of
// replicas, one of the two finds the other's bucket.
func create(ctx context.Context, js jetstream.JetStream, config Config) (jetstream.KeyValue, error) {
	kv, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: config.Bucket, Description: "leases of Understudy", Storage: jetstream.FileStorage, Replicas: config.Replicas,
	})
	switch {
	case errors.Is(err, jetstream.ErrBucketExists):
		return js.KeyValue(ctx, config.Bucket)
	case err != nil:
		return nil, fmt.Errorf("make it with %d replicas: %w", config.Replicas, err)
	}
	return kv, nil
}

// unsuitable returns what is wrong with a bucket. An administrator may limit its bytes, keep a
// history, move it and describe it.
func unsuitable(have *jetstream.StreamConfig, config Config) []error {
	var problems []error
	for _, c := range []struct {
		bad  bool
		what string
	}{
		{have.Storage != jetstream.FileStorage, "storage is not file: a restart would lose the tokens"},
		{have.MaxAge != 0, "it has a TTL: it would drop tokens"},
		{have.Discard != jetstream.DiscardNew, "discard is not new: it would drop tokens when it is full"},
		{have.PersistMode != jetstream.DefaultPersistMode, "persist mode is async: it acknowledges what it may lose"},
		{have.Replicas < config.Replicas, fmt.Sprintf("it has %d replicas, LeasesConfig.Replicas is %d", have.Replicas, config.Replicas)},
		{have.NoAck, "it does not acknowledge"},
		{have.Sealed, "it is sealed"},
		{have.Mirror != nil || len(have.Sources) > 0, "it is a copy: conditions hold in the original only"},
	} {
		if c.bad {
			problems = append(problems, errors.New(c.what))
		}
	}
	return problems
}
