package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/singleton/lease"
)

func TestTheZeroConfigWorks(t *testing.T) {
	c := Config{}.withDefaults()
	require.NoError(t, c.validate())
	require.Equal(t, DefaultName, c.Name)
	require.Equal(t, LAN(), c.Detector)
	require.Equal(t, "oldest", c.Leader.Name)
	require.Equal(t, 13*time.Second, c.margin())
}

func TestWithManualDowningThereIsNoFailover(t *testing.T) {
	c := Config{Downing: downing.Manual{}}.withDefaults()
	e := c.Expected()
	require.Negative(t, e.Downing)
	require.Negative(t, e.FailoverFenced)
	require.Negative(t, e.FailoverUnfenced)
	require.Equal(t, "never", orNever(e.Downing))
	require.InDelta(t, 0.855, e.WorstDetection.Seconds(), 0.001)
	require.Equal(t, 10*time.Second, c.margin())
}

// lent is a lease that nobody asks for.
type lent struct{ lease.Lease }

func TestTheMarginCoversTheSlowestLoser(t *testing.T) {
	c := Config{Downing: downing.LeaseMajority{Lease: lent{}, LeaseTimeout: 4 * time.Second}}.withDefaults()
	require.NoError(t, c.validate())
	require.Equal(t, 19*time.Second, c.margin(), "3 s until the winner asks, 2 s more and 4 s for the answer to the loser, 10 s to stop")
	require.InDelta(t, 4.05, c.Expected().FailoverFenced.Seconds(), 0.1)
}

func TestConfigSaysWhatToDo(t *testing.T) {
	for want, c := range map[string]Config{
		"must be 1 to 255 letters": {Name: "a b"},
		"host:port":                {Seeds: []string{"localhost"}},
		"is not the host":          {Seeds: []string{"localhost:0"}},
		"give it one":              {Leader: LeaderElection{Compare: Oldest().Compare}},
		"StaticQuorum.Size":        {Downing: downing.StaticQuorum{}},
		"or Config.Leases":         {Downing: downing.LeaseMajority{}},
		"must be at least 14s":     {Downing: downing.LeaseMajority{ReleaseAfter: time.Second}, Leases: noLeases},
		"are both set":             {TLS: &tls.Config{}, Secret: []byte("0123456789abcdef")}, //nolint:gosec // it is refused
		"has 0 bytes":              {Secret: []byte("")},
		"openssl":                  {Secret: []byte("password")},
		"has 1 bytes":              {Secret: []byte("0123456789abcdef"), OldSecrets: [][]byte{{1}}},
		"without Config":           {OldSecrets: [][]byte{[]byte("0123456789abcdef")}},
		"Detector: phi: th":        {Detector: Detector{Threshold: -1}},
	} {
		require.ErrorContains(t, c.withDefaults().validate(), want)
		_, err := Start(t.Context(), c)
		require.ErrorContains(t, err, want)
	}
}

func noLeases(string, string) (lease.Lease, error) { return nil, errors.New("no store") }

func TestStartSaysWhatTheLeaseOfDowningLacks(t *testing.T) {
	short := lease.NewMemory()
	for want, leases := range map[string]func(name, owner string) (lease.Lease, error){
		"Config.Leases: create the lease understudy-downing: no store": noLeases,
		"the TTL of the lease of LeaseMajority is 15s": func(name, owner string) (lease.Lease, error) {
			return lease.New(short, name, owner, lease.Settings{})
		},
	} {
		require.ErrorContains(t, start(t, Config{Downing: downing.LeaseMajority{}, Leases: leases}), want)
	}
}

func TestStartSaysWhatItCannotBind(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	for _, bind := range []string{"256.0.0.1:1", taken.Addr().String(), "nonsense"} {
		_, err := Start(t.Context(), Config{Bind: bind})
		require.ErrorContains(t, err, "Config.Bind")
		require.ErrorContains(t, err, bind)
	}
}

// Regression: a seed with the port 99999 was tried until the context ended.
func TestAddressesWithPortsThatThereAreNotAreRefusedAtOnce(t *testing.T) {
	for field, with := range map[string]func(address string) error{
		"Config.Seeds":           func(a string) error { return start(t, Config{Seeds: []string{"127.0.0.1:1", a}}) },
		"Config.Bind":            func(a string) error { return start(t, Config{Bind: a}) },
		"Config.Advertise":       func(a string) error { return start(t, Config{Advertise: a}) },
		"ClientConfig.Contacts":  func(a string) error { return dial(t, ClientConfig{Contacts: []string{"127.0.0.1:1", a}}) },
		"Config.Discovery found": func(a string) error { _, err := usable([]string{a}); return err },
	} {
		for _, port := range []string{"65536", "99999", "-1", "+1", "http", "0x10", "99999999999999999999"} {
			err := with("127.0.0.1:" + port)
			require.ErrorContains(t, err, "cluster: "+field)
			require.ErrorContains(t, err, fmt.Sprintf("has the port %q; ports are numbers up to 65535", port), field)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
		}
	}
}

func start(t *testing.T, c Config) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	c.Logger = zap.NewNop()
	_, err := Start(ctx, c)
	return err
}

func dial(t *testing.T, c ClientConfig) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	c.Logger = zap.NewNop()
	_, err := Dial(ctx, c)
	return err
}

func TestStartSaysWhatTLSLacks(t *testing.T) {
	_, err := Start(t.Context(), Config{TLS: &tls.Config{MinVersion: tls.VersionTLS13}})
	require.ErrorContains(t, err, "no certificate")
}
