package transport

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"
)

// With nil ClientCAs, package tls takes the authorities of the operating system. A certificate for
// any web site would then admit a node.
func TestClientsAreNeverJudgedByTheAuthoritiesOfTheOperatingSystem(t *testing.T) {
	pool := x509.NewCertPool()
	var instead *tls.Config
	choose := func(*tls.ClientHelloInfo) (*tls.Config, error) { return instead, nil }
	for name, c := range map[string]struct {
		own, instead *tls.Config
		want         error
	}{
		"no choice, and none of its own":  {&tls.Config{}, nil, errNoClientCAs},
		"no choice":                       {&tls.Config{ClientCAs: pool}, nil, nil},
		"a choice":                        {&tls.Config{}, &tls.Config{ClientCAs: pool}, nil},
		"a choice that has none":          {&tls.Config{ClientCAs: pool}, &tls.Config{}, errNoClientCAs},
		"a choice that trusts the system": {&tls.Config{}, &tls.Config{}, errNoClientCAs},
	} {
		instead = c.instead
		c.own.GetConfigForClient = choose
		_, err := listenConfig(c.own).GetConfigForClient(&tls.ClientHelloInfo{})
		require.ErrorIs(t, err, c.want, name)
	}
}
