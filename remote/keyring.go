package remote

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"
)

// In bytes.
const minSecret = 16

// Other programs may derive keys from the same secret.
const secretDomain = "understudy remote identity 1"

// A Keyring authenticates the nodes of a cluster by shared secrets. A node proves that it has the
// primary secret, and accepts peers that prove that they have any secret of the ring. A secret is
// neither sent nor kept: a key pair is derived from it.
//
// To change the secret without downtime, go through three rounds: [Keyring.Add] the new one,
// [Keyring.Use] it, [Keyring.Remove] the old one. Each round must have reached all nodes before the
// next begins. Existing connections continue, and no message is lost.
//
// Node.Keyring and Client.Keyring of package cluster return it. Its methods may be called by any
// goroutine.
type Keyring struct {
	mu         sync.RWMutex // guards identities
	identities []*identity  // the primary first
}

type identity struct {
	public      ed25519.PublicKey
	certificate tls.Certificate
}

// NewKeyring returns a ring of secrets. It fails when a secret is shorter than 16 bytes. Secrets
// must be random: anybody who can connect to the port can guess a password by trying.
func NewKeyring(primary []byte, others ...[]byte) (*Keyring, error) {
	k := &Keyring{}
	for _, secret := range append([][]byte{primary}, others...) {
		if err := k.Add(secret); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// Add makes the ring accept peers that have secret. Adding a secret of the ring has no effect. Add
// fails if secret is shorter than 16 bytes.
func (k *Keyring) Add(secret []byte) error {
	id, err := deriveIdentity(secret)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.find(id.public) < 0 {
		k.identities = append(k.identities, id)
	}
	return nil
}

// Use makes secret the primary one, with which this node authenticates to its peers. All peers must
// already accept it. Use fails if the ring does not have secret.
func (k *Keyring) Use(secret []byte) error {
	id, err := deriveIdentity(secret)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	i := k.find(id.public)
	if i < 0 {
		return errors.New("remote: the secret is not in the keyring; Add it on all nodes first")
	}
	k.identities[0], k.identities[i] = k.identities[i], k.identities[0]
	return nil
}

// Remove makes the ring reject peers that have secret. Existing connections are kept. Removing a
// secret that the ring does not have has no effect. Remove fails for the primary secret.
func (k *Keyring) Remove(secret []byte) error {
	id, err := deriveIdentity(secret)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch i := k.find(id.public); i {
	case -1:
	case 0:
		return errors.New("remote: the secret is the primary one of the keyring; Use another one before it is removed")
	default:
		k.identities = slices.Delete(k.identities, i, i+1)
	}
	return nil
}

// mu is held.
func (k *Keyring) find(public ed25519.PublicKey) int {
	return slices.IndexFunc(k.identities, func(id *identity) bool { return id.public.Equal(public) })
}

// Certificate returns the certificate by which this node authenticates now. Its key is derived from
// the primary secret; nothing else in it counts.
func (k *Keyring) Certificate() *tls.Certificate {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return &k.identities[0].certificate
}

var errOtherSecret = errors.New("its secret is not in this node's keyring")

// Verify fails unless the key of the peer's certificate is derived from a secret of the ring. It is
// a [tls.Config.VerifyConnection]: TLS has checked that the peer has the private key.
func (k *Keyring) Verify(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return errOtherSecret
	}
	public, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	k.mu.RLock()
	defer k.mu.RUnlock()
	if !ok || k.find(public) < 0 {
		return errOtherSecret
	}
	return nil
}

// The identity is the same on all nodes.
func deriveIdentity(secret []byte) (*identity, error) {
	if len(secret) < minSecret {
		return nil, fmt.Errorf("remote: a secret has %d bytes, and needs %d or more, all random; make one with: openssl rand -base64 32", len(secret), minSecret)
	}
	seed, err := hkdf.Key(sha256.New, secret, nil, secretDomain, ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("remote: derive a key: %w", err)
	}
	private := ed25519.NewKeyFromSeed(seed)
	public := private.Public()
	template := &x509.Certificate{ // only its key is used
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return nil, fmt.Errorf("remote: make a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("remote: make a certificate: %w", err)
	}
	return &identity{
		public:      public.(ed25519.PublicKey),
		certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private, Leaf: leaf},
	}, nil
}
