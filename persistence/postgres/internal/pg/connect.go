package pg

import (
	"cmp"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// How long a connection may be silent if the connection string does not set it.
const (
	// connectTimeout bounds an attempt to connect. An attempt continues after its caller has given
	// up, and occupies a place in the pool.
	connectTimeout = 5 * time.Second
	// pingTimeout bounds the check of an idle connection, so that a vanished server does not use up
	// the time of the whole operation.
	pingTimeout = 2 * time.Second
)

// ParseConfig is [pgxpool.ParseConfig] for a pool that connects on demand. If connString does not
// set connect_timeout, an attempt to connect ends after 5 s.
func ParseConfig(connString string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(connString)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTimeout)
	config.MinConns, config.MinIdleConns = 0, 0 // the pool would wait for them
	return config, nil
}
