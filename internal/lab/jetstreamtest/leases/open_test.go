package leases

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/singleton/lease"
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
	config := jetstream.LeasesConfig{Bucket: "leases", Replicas: 1}
	app := connect(t, c.urls(), nats.UserInfo("app", "app"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	_, err := jetstream.OpenLeases(patient(t, 300*time.Millisecond), app, config)
	require.ErrorContains(t, err, `Permissions Violation for Publish to "$JS.API.INFO"`)
	_, err = jetstream.OpenLeases(t.Context(), connect(t, c.urls(), nats.UserInfo("maker", "maker")), config)
	require.NoError(t, err)

	ctx := t.Context()
	store, err := jetstream.OpenLeases(ctx, app, config)
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
	_, err = jetstream.OpenLeases(patient(t, 300*time.Millisecond), app, config)
	require.ErrorContains(t, err, "Permissions Violation")
}

func TestTheFirstOfManyMakesTheBucket(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	var all sync.WaitGroup
	for range 8 {
		nc := connect(t, c.urls())
		all.Go(func() {
			if _, err := jetstream.OpenLeases(t.Context(), nc, jetstream.LeasesConfig{Replicas: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestABucketThatAnAdministratorMadeIsGood(t *testing.T) {
	t.Parallel()
	nc := connect(t, start(t, 1).urls())
	_, err := client(t, nc).CreateKeyValue(t.Context(), js.KeyValueConfig{Bucket: "b", History: 5, MaxBytes: 1 << 20})
	require.NoError(t, err)
	store, err := jetstream.OpenLeases(t.Context(), nc, jetstream.LeasesConfig{Bucket: "b", Replicas: 1})
	require.NoError(t, err)
	_, err = store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
}

func TestOpenRefusesBucketsThatLoseTokens(t *testing.T) {
	t.Parallel()
	nc := connect(t, start(t, 1).urls())
	for what, spoil := range map[string]func(*js.StreamConfig){
		"storage is not file":     func(s *js.StreamConfig) { s.Storage = js.MemoryStorage },
		"it has a TTL":            func(s *js.StreamConfig) { s.MaxAge = time.Hour },
		"discard is not new":      func(s *js.StreamConfig) { s.Discard = js.DiscardOld },
		"persist mode is async":   func(s *js.StreamConfig) { s.PersistMode = js.AsyncPersistMode },
		"it does not acknowledge": func(s *js.StreamConfig) { s.NoAck = true },
		"it is a copy":            func(s *js.StreamConfig) { s.Sources = []*js.StreamSource{{Name: "other"}} },
	} {
		bucket := strings.ReplaceAll(what, " ", "-")
		config := js.StreamConfig{
			Name: "KV_" + bucket, Subjects: []string{"$KV." + bucket + ".>"}, MaxMsgsPerSubject: 1,
			Discard: js.DiscardNew, Replicas: 1, AllowRollup: true,
		}
		spoil(&config)
		_, err := client(t, nc).CreateStream(t.Context(), config)
		require.NoError(t, err, what)
		_, err = jetstream.OpenLeases(t.Context(), nc, jetstream.LeasesConfig{Bucket: bucket, Replicas: 1})
		require.ErrorContains(t, err, "does not suit leases: "+what)
	}
	_, err := jetstream.OpenLeases(t.Context(), nc, jetstream.LeasesConfig{Bucket: "good", Replicas: 1})
	require.NoError(t, err)
	_, err = jetstream.OpenLeases(t.Context(), nc, jetstream.LeasesConfig{Bucket: "good"})
	require.ErrorContains(t, err, "it has 1 replicas, LeasesConfig.Replicas is 3")
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	nc := connect(t, start(t, 1).urls())
	for _, c := range []struct {
		config jetstream.LeasesConfig
		says   string
	}{
		{jetstream.LeasesConfig{}, "make it with 3 replicas"},
		{jetstream.LeasesConfig{Bucket: "a.b"}, "LeasesConfig.Bucket"},
		{jetstream.LeasesConfig{Replicas: -1}, "LeasesConfig.Replicas"},
	} {
		_, err := jetstream.OpenLeases(t.Context(), nc, c.config)
		require.ErrorContains(t, err, c.says, fmt.Sprint(c.config))
	}
	_, err := jetstream.OpenLeases(t.Context(), nil, jetstream.LeasesConfig{})
	require.ErrorContains(t, err, "needs a connection")
	nc.Close()
	_, err = jetstream.OpenLeases(t.Context(), nc, jetstream.LeasesConfig{Replicas: 1})
	require.ErrorIs(t, err, nats.ErrConnectionClosed)
}

func TestLeasesMayBeInADomain(t *testing.T) {
	t.Parallel()
	c := start(t, 1, func(o *server.Options) { o.JetStreamDomain = "hub" })
	store := openAt(t, c.urls(), jetstream.LeasesConfig{Replicas: 1, Domain: "hub"})
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
	_, err = store.Renew(t.Context(), grant)
	require.NoError(t, err)
	_, err = openAt(t, c.urls(), jetstream.LeasesConfig{Replicas: 1}).Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld, "it is the same")
}
