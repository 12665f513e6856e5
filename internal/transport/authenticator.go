package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/understudy-go/understudy/remote"
)

// An authenticator uses TLS: both sides of a connection prove their identity, and encrypt it.
type authenticator struct {
	dials   *tls.Config
	listens *tls.Config
	named   bool // certificates name hosts
}

// newAuthenticator returns nil for a configuration that has neither TLS nor a keyring.
func newAuthenticator(c Config) (*authenticator, error) {
	switch {
	case c.TLS != nil && c.Keyring != nil:
		return nil, errors.New("remote: Config.TLS and Config.Keyring are both set; a node has one identity, leave out one of them")
	case c.TLS != nil:
		if err := validateTLS(c.TLS); err != nil {
			return nil, err
		}
		return &authenticator{dials: dialConfig(c.TLS), listens: listenConfig(c.TLS), named: true}, nil
	case c.Keyring != nil:
		return keyringAuthenticator(c.Keyring), nil
	}
	return nil, nil
}

// alpn is the application protocol (RFC 7301) of the TLS handshake. Other servers do not offer it.
var alpn = []string{"understudy"}

// An error means that it cannot authenticate both sides.
func validateTLS(c *tls.Config) error {
	own := len(c.Certificates) > 0
	switch {
	case c.InsecureSkipVerify:
		return errors.New("remote: Config.TLS has InsecureSkipVerify, with which anybody could pass for a node; leave it out and set RootCAs")
	case c.MaxVersion != 0 && c.MaxVersion < tls.VersionTLS13:
		return errors.New("remote: Config.TLS has a MaxVersion below TLS 1.3; leave it out")
	case !own && c.GetCertificate == nil && c.GetConfigForClient == nil:
		return errors.New("remote: Config.TLS has no certificate for connections that others open; set Certificates, or GetCertificate")
	case !own && c.GetClientCertificate == nil:
		return errors.New("remote: Config.TLS has no certificate for connections that this node opens; set Certificates, or GetClientCertificate")
	case c.RootCAs == nil:
		return errors.New("remote: Config.TLS has no RootCAs; set the authorities that sign the certificates of nodes")
	case c.ClientCAs == nil && c.GetConfigForClient == nil:
		return errNoClientCAs
	}
	return nil
}

var errNoClientCAs = errors.New("remote: Config.TLS has no ClientCAs; set the authorities that sign the certificates of nodes, as in RootCAs")

func dialConfig(c *tls.Config) *tls.Config {
	c = c.Clone()
	c.MinVersion = tls.VersionTLS13
	c.NextProtos = alpn
	c.ClientSessionCache = nil // a session that is resumed has not been verified
	c.DynamicRecordSizingDisabled = true
	return c
}

func listenConfig(c *tls.Config) *tls.Config {
	c = c.Clone()
	c.MinVersion = tls.VersionTLS13
	c.NextProtos = alpn
	c.ClientAuth = tls.RequireAndVerifyClientCert
	c.SessionTicketsDisabled = true
	c.DynamicRecordSizingDisabled = true
	if choose := c.GetConfigForClient; choose != nil {
		c.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) { return chosen(c, choose, h) }
	}
	return c
}

// The user's GetConfigForClient has chosen it; it is made as strict as c.
func chosen(c *tls.Config, choose func(*tls.ClientHelloInfo) (*tls.Config, error), h *tls.ClientHelloInfo) (*tls.Config, error) {
	other, err := choose(h)
	switch {
	case err != nil:
		return nil, err
	case other == nil && c.ClientCAs != nil:
		return nil, nil // which is c
	case other == nil || other.ClientCAs == nil:
		return nil, errNoClientCAs // or it would be the authorities of the operating system
	}
	other = listenConfig(other)
	other.GetConfigForClient = nil
	return other, nil
}

func keyringAuthenticator(k *remote.Keyring) *authenticator {
	return &authenticator{
		dials: &tls.Config{
			MinVersion:                  tls.VersionTLS13,
			NextProtos:                  alpn,
			InsecureSkipVerify:          true, //nolint:gosec // the key itself is compared, by VerifyConnection
			VerifyConnection:            k.Verify,
			GetClientCertificate:        func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return k.Certificate(), nil },
			DynamicRecordSizingDisabled: true,
		},
		listens: &tls.Config{
			MinVersion:                  tls.VersionTLS13,
			NextProtos:                  alpn,
			ClientAuth:                  tls.RequireAnyClientCert,
			VerifyConnection:            k.Verify,
			GetCertificate:              func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return k.Certificate(), nil },
			SessionTicketsDisabled:      true,
			DynamicRecordSizingDisabled: true,
		},
	}
}

// Its Close does not wait for the peer to read close_notify.
type secureConn struct {
	*tls.Conn
	raw net.Conn
}

func (c *secureConn) Close() error { return c.raw.Close() }

// The peer is authenticated then; whether the peer accepts us shows when it answers.
func (g *authenticator) dialed(ctx context.Context, raw net.Conn, addr string) (*secureConn, error) {
	config := g.dials
	if g.named {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		config = config.Clone()
		config.ServerName = host
	}
	conn := tls.Client(raw, config)
	err := conn.HandshakeContext(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("no answer: %w", ctx.Err())
	case isOtherServer(conn, err):
		return nil, foreign(otherTLS)
	case err != nil:
		return nil, authError(err)
	}
	return &secureConn{conn, raw}, nil
}

// err has ended the handshake. A server that is no node does not speak TLS 1.3, or has shown its
// certificate without agreeing on our protocol. The protocol is agreed on before certificates,
// which distinguishes a web server from an untrusted node.
func isOtherServer(conn *tls.Conn, err error) bool {
	if broken, ok := errors.AsType[*net.OpError](err); ok && broken.Op == opAlert {
		said := broken.Err.Error()
		return said == noSuchProtocol.Error() || said == noSuchVersion.Error()
	}
	_, doubted := errors.AsType[*tls.CertificateVerificationError](err)
	state := conn.ConnectionState()
	return (doubted || len(state.PeerCertificates) > 0) && state.NegotiatedProtocol != alpn[0]
}

// TLS alerts of servers that are no nodes, by their numbers in RFC 8446.
const (
	noSuchVersion  tls.AlertError = 70
	noSuchProtocol tls.AlertError = 120
)

// The peer is authenticated then.
func (g *authenticator) accepted(raw net.Conn, begin []byte) (*secureConn, error) {
	unauthenticatedConn := &meteredConn{Conn: raw, first: begin, left: maxUnauthenticatedBytes}
	conn := tls.Server(unauthenticatedConn, g.listens)
	if err := conn.Handshake(); err != nil {
		return nil, authError(err)
	}
	unauthenticatedConn.trusted = true
	return &secureConn{conn, raw}, nil
}

// The certificate of a peer must be valid for the address that it advertises.
func (g *authenticator) identify(conn net.Conn, addr string) error {
	secure, ok := conn.(*secureConn)
	if !ok || !g.named {
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	return secure.ConnectionState().PeerCertificates[0].VerifyHostname(host)
}

// opAlert is the Op of the net.OpError in which package tls wraps an alert of the peer.
const opAlert = "remote error"

// authError wraps err in [remote.ErrNotAuthenticated] if one side does not trust the other, but not
// if the connection broke.
func authError(err error) error {
	record, plain := errors.AsType[tls.RecordHeaderError](err)
	broken, network := errors.AsType[*net.OpError](err)
	switch name := protocolOf(record.RecordHeader[:]); {
	case plain && name != "":
		return foreign(name)
	case plain:
		return fmt.Errorf("%w: it does not speak TLS; certificates, or a secret, must be set on all nodes or on none", remote.ErrNotAuthenticated)
	case network && broken.Op == opAlert:
		return fmt.Errorf("%w: it does not accept the certificate or secret of this node: %w", remote.ErrNotAuthenticated, err)
	case network, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	return fmt.Errorf("%w: %w", remote.ErrNotAuthenticated, err)
}
