package pg

import (
	"cmp"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// How long a connection may be silent, where the connection string does not say.
const (
	// connectTimeout bounds an attempt to connect, which goes on after its caller has given
	// up and takes up a place in the pool.
	connectTimeout = 5 * time.Second
	// pingTimeout bounds the look at a connection that was idle, so that one whose server
	// has vanished does not cost a whole operation.
	pingTimeout = 2 * time.Second
)

// ParseConfig is [pgxpool.ParseConfig] for a pool that is made without waiting for anything:
// it connects when there is something to ask, and an attempt to connect ends after 5 s, if
// connString does not set connect_timeout.
func ParseConfig(connString string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(connString)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTimeout)
	config.MinConns, config.MinIdleConns = 0, 0 // they would be waited for
	return config, nil
}
