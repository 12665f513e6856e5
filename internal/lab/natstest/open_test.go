package natstest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
	natslease "github.com/understudy-go/understudy/singleton/lease/nats"
)

func TestTheDocumentedPrivilegesAreEnough(t *testing.T) {
	t.Parallel()
	needed := []string{"$JS.API.STREAM.INFO.KV_leases", "$JS.API.STREAM.MSG.GET.KV_leases", "$KV.leases.>"}
	toMake := append([]string{"$JS.API.INFO", "$JS.API.STREAM.CREATE.KV_leases"}, needed...)
	c := start(t, 1, func(o *server.Options) {
		for name, subjects := range map[string][]string{"maker": toMake, "app": needed} {
			o.Users = append(o.Users, &server.User{Username: name, Password: name, Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: subjects},
				Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
			}})
		}
	})
	config := natslease.Config{Bucket: "leases", Replicas: 1}
	app := connect(t, c.urls(), nats.UserInfo("app", "app"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	_, err := natslease.Open(patient(t, 300*time.Millisecond), app, config)
	require.ErrorContains(t, err, `Permissions Violation for Publish to "$JS.API.INFO"`)
	_, err = natslease.Open(t.Context(), connect(t, c.urls(), nats.UserInfo("maker", "maker")), config)
	require.NoError(t, err)

	ctx := t.Context()
	store, err := natslease.Open(ctx, app, config)
	require.NoError(t, err)
	grant, err := store.Take(ctx, claim("job", "a"))
	require.NoError(t, err)
	_, err = store.Take(ctx, claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)
	grant, err = store.Renew(ctx, grant)
	require.NoError(t, err)
	require.NoError(t, store.Release(ctx, grant))
	require.NoError(t, store.Release(ctx, lease.Grant{Claim: claim("job", "a")}))

	config.Bucket = "elsewhere"
	_, err = natslease.Open(patient(t, 300*time.Millisecond), app, config)
	require.ErrorContains(t, err, "Permissions Violation")
}

func TestTheFirstOfManyMakesTheBucket(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	var all sync.WaitGroup
	for range 8 {
		nc := connect(t, c.urls())
		all.Go(func() {
			if _, err := natslease.Open(t.Context(), nc, natslease.Config{Replicas: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestABucketThatAnAdministratorMadeIsGood(t *testing.T) {
	t.Parallel()
	nc := connect(t, start(t, 1).urls())
	_, err := client(t, nc).CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b", History: 5, MaxBytes: 1 << 20})
	require.NoError(t, err)
	store, err := natslease.Open(t.Context(), nc, natslease.Config{Bucket: "b", Replicas: 1})
	require.NoError(t, err)
	_, err = store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
}

func TestOpenRefusesBucketsThatLoseTokens(t *testing.T) {
	t.Parallel()
	nc := connect(t, start(t, 1).urls())
	for what, spoil := range map[string]func(*jetstream.StreamConfig){
		"storage is not file":     func(s *jetstream.StreamConfig) { s.Storage = jetstream.MemoryStorage },
		"it has a TTL":            func(s *jetstream.StreamConfig) { s.MaxAge = time.Hour },
		"discard is not new":      func(s *jetstream.StreamConfig) { s.Discard = jetstream.DiscardOld },
		"persist mode is async":   func(s *jetstream.StreamConfig) { s.PersistMode = jetstream.AsyncPersistMode },
		"it does not acknowledge": func(s *jetstream.StreamConfig) { s.NoAck = true },
		"it is a copy":            func(s *jetstream.StreamConfig) { s.Sources = []*jetstream.StreamSource{{Name: "other"}} },
	} {
		bucket := strings.ReplaceAll(what, " ", "-")
		config := jetstream.StreamConfig{
			Name: "KV_" + bucket, Subjects: []string{"$KV." + bucket + ".>"}, MaxMsgsPerSubject: 1,
			Discard: jetstream.DiscardNew, Replicas: 1, AllowRollup: true,
		}
		spoil(&config)
		_, err := client(t, nc).CreateStream(t.Context(), config)
		require.NoError(t, err, what)
		_, err = natslease.Open(t.Context(), nc, natslease.Config{Bucket: bucket, Replicas: 1})
		require.ErrorContains(t, err, "does not suit leases: "+what)
	}
	_, err := natslease.Open(t.Context(), nc, natslease.Config{Bucket: "good", Replicas: 1})
	require.NoError(t, err)
	_, err = natslease.Open(t.Context(), nc, natslease.Config{Bucket: "good"})
	require.ErrorContains(t, err, "it has 1 replicas, Config.Replicas is 3")
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	nc := connect(t, start(t, 1).urls())
	for _, c := range []struct {
		config natslease.Config
		says   string
	}{
		{natslease.Config{}, "make it with 3 replicas"},
		{natslease.Config{Bucket: "a.b"}, "Config.Bucket"},
		{natslease.Config{Replicas: -1}, "Config.Replicas"},
	} {
		_, err := natslease.Open(t.Context(), nc, c.config)
		require.ErrorContains(t, err, c.says, fmt.Sprint(c.config))
	}
	_, err := natslease.Open(t.Context(), nil, natslease.Config{})
	require.ErrorContains(t, err, "needs a connection")
	nc.Close()
	_, err = natslease.Open(t.Context(), nc, natslease.Config{Replicas: 1})
	require.ErrorIs(t, err, nats.ErrConnectionClosed)
}

func TestLeasesMayBeInADomain(t *testing.T) {
	t.Parallel()
	c := start(t, 1, func(o *server.Options) { o.JetStreamDomain = "hub" })
	store := openAt(t, c.urls(), natslease.Config{Replicas: 1, Domain: "hub"})
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
	_, err = store.Renew(t.Context(), grant)
	require.NoError(t, err)
	_, err = openAt(t, c.urls(), natslease.Config{Replicas: 1}).Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld, "it is the same")
}
