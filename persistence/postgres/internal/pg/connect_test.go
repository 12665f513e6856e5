package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

func TestAConnectionStringSaysHowLongToTryAndNothingElseWaits(t *testing.T) {
	config, err := pg.ParseConfig("postgres://db.example/app?pool_min_conns=3")
	require.NoError(t, err)
	require.Equal(t, 5*time.Second, config.ConnConfig.ConnectTimeout)
	require.Equal(t, 2*time.Second, config.PingTimeout)
	require.Zero(t, config.MinConns)

	config, err = pg.ParseConfig("postgres://db.example/app?connect_timeout=9")
	require.NoError(t, err)
	require.Equal(t, 9*time.Second, config.ConnConfig.ConnectTimeout)

	_, err = pg.ParseConfig("postgres://db.example:1:2/")
	require.Error(t, err)
}
