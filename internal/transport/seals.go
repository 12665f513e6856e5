package transport

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/protocol"
)

// With TLS, datagrams are sealed by AES-256-GCM. Each listener draws a key for each peer that
// opens a control channel to it, and grants it in its answer. The key is only for datagrams from
// that peer to this listener. The header of a sealed datagram is authenticated: tag, version with
// the upper bit set, number of the key, 8 bytes, and the count of datagrams sealed with it, 8
// bytes. The cipher draws the nonces itself, because FIPS 140-3 does not let a program choose them.
const (
	packetSealed = 0x80
	sealedHeader = 1 + 1 + 8 + 8
	sealOverhead = 12 + 16 // the nonce, and the tag
	keySize      = 32
	grantSize    = 8 + keySize // the number of the key, and the key

	// sealLimit is how many datagrams a key seals. NIST SP 800-38D allows 2³² random nonces.
	sealLimit = 1 << 31
)

var (
	errUnsealed = fmt.Errorf("%w: not sealed, or with a key that is not known here", remote.ErrFrame)
	errForged   = fmt.Errorf("%w: sealed packet is forged or damaged", remote.ErrFrame)
	errReplayed = fmt.Errorf("%w: sealed packet has come before, or is too old", remote.ErrFrame)
)

func drawGrant() []byte {
	grant := make([]byte, grantSize)
	_, _ = rand.Read(grant) // it never fails
	return grant
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("key of packets: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

type sealer struct {
	peer    remote.NodeID
	version byte // that the two have agreed on
	number  uint64
	aead    cipher.AEAD
	count   atomic.Uint64
}

func newSealer(to remote.NodeID, version uint64, grant []byte) (*sealer, error) {
	if len(grant) != grantSize {
		return nil, fmt.Errorf("%w: a grant of %d bytes", remote.ErrFrame, len(grant))
	}
	aead, err := newAEAD(grant[8:])
	if err != nil {
		return nil, err
	}
	return &sealer{peer: to, version: byte(version), number: binary.BigEndian.Uint64(grant), aead: aead}, nil //nolint:gosec // versions have 7 bits
}

// seal returns nil if the key has sealed all that it may.
func (s *sealer) seal(tag byte, data []byte) []byte {
	count := s.count.Add(1)
	if count > sealLimit {
		return nil
	}
	buf := make([]byte, 0, sealedHeader+len(data)+sealOverhead)
	buf = append(buf, tag, packetSealed|s.version)
	buf = binary.BigEndian.AppendUint64(buf, s.number)
	buf = binary.BigEndian.AppendUint64(buf, count)
	return s.aead.Seal(buf, nil, data, buf)
}

type sealers struct {
	mu sync.RWMutex // guards to
	to map[string]*sealer
}

func (s *sealers) of(addr string) *sealer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.to[addr]
}

func (s *sealers) set(addr string, x *sealer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to[addr] = x
}

func (s *sealers) remove(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.to, addr)
}

// removeWorn reports whether it has removed the sealer, which another may have replaced.
func (s *sealers) removeWorn(addr string, x *sealer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.to[addr] == x
	if found {
		delete(s.to, addr)
	}
	return found
}

func (s *sealers) drop(which func(remote.NodeID) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for addr, x := range s.to {
		if which(x.peer) {
			delete(s.to, addr)
		}
	}
}

type opener struct {
	number  uint64
	channel *inbound // the channel that the key was granted on
	aead    cipher.AEAD
	window  window // belongs to the goroutine that reads packets
}

// The last two keys of each address are kept, because the answer with the newest may have been
// lost.
type openers struct {
	versions protocol.Range // that this node speaks

	mu       sync.Mutex // guards all below
	byNumber map[uint64]*opener
	byAddr   map[string][]*opener // the newest is the last
}

func (o *openers) grant(in *inbound) ([]byte, error) {
	grant := drawGrant()
	aead, err := newAEAD(grant[8:])
	if err != nil {
		return nil, err
	}
	x := &opener{number: binary.BigEndian.Uint64(grant), channel: in, aead: aead}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire()
	before := o.byAddr[in.key.addr]
	for len(before) > 0 && (len(before) > 1 || before[0].channel.from != in.from) {
		delete(o.byNumber, before[0].number)
		before = before[1:]
	}
	o.byNumber[x.number] = x
	o.byAddr[in.key.addr] = append(slices.Clip(before), x)
	return grant, nil
}

// mu is held. The peers have had no control channel for long.
func (o *openers) expire() {
	for addr, all := range o.byAddr {
		if last := all[len(all)-1].channel; last.finished() && time.Since(last.ended) > sessionMemory {
			o.forget(addr)
		}
	}
}

func (o *openers) drop(which func(remote.NodeID) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for addr, all := range o.byAddr {
		if which(all[len(all)-1].channel.from) {
			o.forget(addr)
		}
	}
}

func (o *openers) forget(addr string) {
	for _, x := range o.byAddr[addr] {
		delete(o.byNumber, x.number)
	}
	delete(o.byAddr, addr)
}

// The data overwrites the sealed bytes. One goroutine calls open.
func (o *openers) open(b []byte) (remote.NodeID, []byte, error) {
	if len(b) < sealedHeader+sealOverhead || b[1]&packetSealed == 0 || !o.versions.Has(uint64(b[1]&^packetSealed)) {
		return remote.NodeID{}, nil, errUnsealed
	}
	o.mu.Lock()
	x := o.byNumber[binary.BigEndian.Uint64(b[2:])]
	o.mu.Unlock()
	if x == nil {
		return remote.NodeID{}, nil, errUnsealed
	}
	count := binary.BigEndian.Uint64(b[10:])
	header, sealed := b[:sealedHeader], b[sealedHeader:]
	data, err := x.aead.Open(sealed[:0], nil, sealed, header)
	switch {
	case err != nil:
		return remote.NodeID{}, nil, errForged
	case !x.window.accept(count):
		return remote.NodeID{}, nil, errReplayed
	}
	return x.channel.from, data, nil
}

// How far a datagram may be behind others and still be accepted.
const windowSize = 1024

// A window accepts each number once. Numbers begin at 1.
type window struct {
	last uint64 // the highest so far
	seen [windowSize / 64]uint64
}

func (w *window) accept(n uint64) bool {
	if n == 0 || w.last >= windowSize && n <= w.last-windowSize {
		return false
	}
	for ; n > w.last && n-w.last > windowSize; w.last = n - windowSize {
		clear(w.seen[:])
	}
	for w.last < n {
		w.last++
		w.seen[w.last%windowSize/64] &^= 1 << (w.last % 64)
	}
	slot, bit := &w.seen[n%windowSize/64], uint64(1)<<(n%64)
	fresh := *slot&bit == 0
	*slot |= bit
	return fresh
}
