package persistence

import (
	"encoding/base64"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/internal/envelope"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A keyed is a key of [Once], with the reply to its first command.
type keyed struct {
	_       struct{} `cbor:",toarray"`
	Key     string
	At      int64 // Unix nanoseconds, by the clock of the writer
	Replied bool
	Type    string // of the reply; "" for none and for nil
	Reply   []byte
}

func (k *keyed) size() int { return len(k.Key) + len(k.Type) + len(k.Reply) + 64 }

func (k *keyed) reply(s *actor.System) (any, error) {
	if !k.Replied {
		return nil, fmt.Errorf("%w: the first command with the key %q had no reply", ErrKeyReused, k.Key)
	}
	v, err := extension.Unpack(s, extension.Payload{Type: k.Type, Data: k.Reply})
	if err != nil {
		return nil, fmt.Errorf("the stored reply for the key %q: %w", k.Key, err)
	}
	return v, nil
}

// maxKeysSize bounds what a window takes of memory, and of a record or a snapshot.
const maxKeysSize = 4 << 20

// keys is the window of keys that an actor knows. A nil keys has none. Only the actor uses it,
// except while it recovers.
type keys struct {
	most  int
	age   time.Duration
	byKey map[string]*keyed
	order []*keyed // oldest first; keys that came again later are there twice
	size  int
	since uint64 // the record of a durable state that has all keys until then; 0 for none
}

func (s *settings) newKeys() *keys {
	return &keys{most: s.OnceKeys, age: s.OnceFor, byKey: map[string]*keyed{}}
}

// find returns nil if the key is new.
func (w *keys) find(key string, now time.Time) *keyed {
	if w == nil {
		return nil
	}
	k := w.byKey[key]
	if k == nil || w.over(k, now) {
		return nil
	}
	return k
}

func (w *keys) over(k *keyed, now time.Time) bool { return now.UnixNano()-k.At >= int64(w.age) }

func (w *keys) add(k *keyed, now time.Time) {
	w.byKey[k.Key] = k
	w.order = append(w.order, k)
	w.size += k.size()
	w.forget(now)
}

// forget forgets the oldest keys beyond the limits.
func (w *keys) forget(now time.Time) {
	for len(w.order) > 0 {
		first := w.order[0]
		if len(w.order) <= w.most && w.size <= maxKeysSize && !w.over(first, now) {
			return
		}
		w.order[0], w.order = nil, w.order[1:]
		w.size -= first.size()
		if w.byKey[first.Key] == first {
			delete(w.byKey, first.Key)
		}
	}
}

// all returns the keys that are still known, oldest first.
func (w *keys) all(now time.Time) (all []keyed) {
	if w == nil {
		return nil
	}
	w.forget(now)
	for _, k := range w.order {
		if w.find(k.Key, now) == k {
			all = append(all, *k)
		}
	}
	return all
}

// storedKeys are the keys in the metadata of a record.
type storedKeys struct {
	_     struct{} `cbor:",toarray"`
	Keys  []keyed
	Since uint64 // of a durable state: this and the records from there have all keys
}

// complete completes s for a record of a durable state, which has a new key. It gets all keys if
// those before it are deleted, and if it is the first one of an incarnation.
func (w *keys) complete(s *storedKeys, before uint64, last *journal.Record) {
	if w != nil && w.since > 0 && !discards(before, last) {
		s.Since = w.since
		return
	}
	s.Keys = append(w.all(last.Time), s.Keys...)
	if len(s.Keys) > 0 {
		s.Since = last.Seq
	}
}

// to adds s to the metadata of a record.
func (s *storedKeys) to(r *journal.Record) error {
	if len(s.Keys) == 0 && s.Since == 0 {
		return nil
	}
	data, err := codec.Marshal(*s)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if r.Meta == nil {
		r.Meta = map[string]string{}
	}
	r.Meta[envelope.KeysMeta] = base64.StdEncoding.EncodeToString(data)
	return nil
}

// keysIn returns the keys in the metadata of a record.
func keysIn(r *journal.Record) (s storedKeys, err error) {
	text, ok := r.Meta[envelope.KeysMeta]
	if !ok {
		return s, nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		err = envelope.Check(data)
	}
	if err == nil {
		err = codec.Unmarshal(data, &s)
	}
	if err != nil {
		return s, fmt.Errorf("the keys of commands in record %d: %w", r.Seq, err)
	}
	return s, nil
}

// A stateWithKeys is stored as a snapshot if there are keys.
type stateWithKeys struct {
	_     struct{} `cbor:",toarray"`
	State extension.Payload
	Keys  []keyed
}

const typeStateWithKeys = "understudy/persistence.state-with-keys/1"

func init() { actor.RegisterType[stateWithKeys](typeStateWithKeys) }

// with returns the payload of a snapshot of state.
func (w *keys) with(state extension.Payload, now time.Time) (extension.Payload, error) {
	all := w.all(now)
	if len(all) == 0 {
		return state, nil
	}
	return extension.Pack(stateWithKeys{State: state, Keys: all})
}

// apart returns the parts of the payload of a snapshot.
func apart(typ string, data []byte) (state extension.Payload, keys []keyed, err error) {
	state = extension.Payload{Type: typ, Data: data}
	if typ != typeStateWithKeys {
		return state, nil, nil
	}
	if err := envelope.Check(data); err != nil {
		return state, nil, err
	}
	v, err := extension.Unpack(nil, state)
	if err != nil {
		return state, nil, err
	}
	both := v.(stateWithKeys)
	return both.State, both.Keys, nil
}
