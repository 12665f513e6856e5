package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/cluster"
)

var tlsKeys = []string{"tls_cert", "tls_key", "tls_ca"}

func (in *settings) firstOfTLS() (setting, bool) {
	for _, name := range tlsKeys {
		if s, set := in.found[name]; set {
			return s, true
		}
	}
	return setting{}, false
}

// partOfTLS returns an error for keys of TLS that are set without the others.
func (in *settings) partOfTLS() []error {
	var set, missing []string
	for _, name := range tlsKeys {
		if s, ok := in.found[name]; ok {
			set = append(set, s.String())
		} else {
			missing = append(missing, name)
		}
	}
	if len(set) == 0 || len(missing) == 0 {
		return nil
	}
	return []error{fmt.Errorf("config: %s, without %s; set all three or none", strings.Join(set, " and "), in.callAll(missing))}
}

// applyTLS sets the field TLS, if its keys are set and each of them is right by itself.
func (in *settings) applyTLS(cfg *cluster.Config) error {
	for _, name := range tlsKeys {
		if _, set := in.found[name]; !set || in.wrong[name] {
			return nil
		}
	}
	file := func(name string) string { return in.opens(in.found[name].values[0]) }
	pair := &keyPair{cert: file("tls_cert"), key: file("tls_key")}
	if _, err := pair.load(); err != nil {
		return fmt.Errorf("config: %s and %s, which are no pair: %w; allowed are PEM files with a certificate and with its private key",
			in.found["tls_cert"], in.found["tls_key"], err)
	}
	authorities, err := readAuthorities(file("tls_ca"))
	if err != nil {
		return fmt.Errorf("config: %s, which %w", in.found["tls_ca"], err)
	}
	cfg.TLS = &tls.Config{
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.load() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair.load() },
		RootCAs:              authorities,
		ClientCAs:            authorities,
		MinVersion:           tls.VersionTLS13,
	}
	return nil
}

func checkAuthorities(path string) error {
	_, err := readAuthorities(path)
	return err
}

func readAuthorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("has no certificate")
	}
	return pool, nil
}

// A keyPair is a certificate and its private key in two files, which may be replaced.
type keyPair struct {
	cert, key string // paths

	mu   sync.Mutex // guards last
	last *tls.Certificate
}

// load returns the pair in the files, or else the last one that was there.
func (p *keyPair) load() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.last = &pair
	case p.last == nil:
		return nil, err
	}
	return p.last, nil
}
