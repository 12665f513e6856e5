package jetstreamtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/jetstream"
)

const accounts = `
accounts {
	SYS { users [{user: system, password: system}] }
	APP { jetstream: enabled, users [{user: app, password: app}] }
}
system_account: SYS
no_auth_user: app
`

func TestOpenAsksTheServersHowTheySync(t *testing.T) {
	for _, always := range []bool{true, false} {
		c := start(t, 1, func(o *server.Options) {
			path := filepath.Join(t.TempDir(), "accounts.conf")
			require.NoError(t, os.WriteFile(path, []byte(accounts), 0o600))
			parsed, err := server.ProcessConfigFile(path)
			require.NoError(t, err)
			o.Accounts, o.Users, o.SystemAccount, o.NoAuthUser = parsed.Accounts, parsed.Users, parsed.SystemAccount, parsed.NoAuthUser
			o.SyncAlways = always
		})
		nc := c.connect(t)
		config := jetstream.Config{
			Stream: "x", Durability: jetstream.SyncAlways, Replicas: 1, System: c.connect(t, nats.UserInfo("system", "system")),
		}
		_, err := jetstream.Open(t.Context(), nc, config)
		if always {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "server-0 has no sync_interval: always")
		}
		config.Durability = jetstream.DeferredSync
		_, err = jetstream.Open(t.Context(), nc, config)
		require.NoError(t, err, "allowed by name")

		config.Durability, config.System = jetstream.SyncAlways, nc
		_, err = jetstream.Open(t.Context(), nc, config)
		require.ErrorContains(t, err, "system account")
	}
}
