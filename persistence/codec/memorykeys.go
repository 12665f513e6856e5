package codec

import (
	"context"
	"fmt"
	"sync"
)

// NewMemoryKeys returns [Keys] in the memory of the process, for tests.
func NewMemoryKeys() Keys { return &memoryKeys{bySubject: map[string][]byte{}} }

type memoryKeys struct {
	mu        sync.Mutex        // guards bySubject
	bySubject map[string][]byte // nil for a key that was destroyed
}

func (k *memoryKeys) Find(_ context.Context, subject string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.find(subject)
}

func (k *memoryKeys) find(subject string) ([]byte, error) {
	key, had := k.bySubject[subject]
	if had && key == nil {
		return nil, fmt.Errorf("%w: its key was destroyed", ErrForgotten)
	}
	return key, nil
}

func (k *memoryKeys) Add(_ context.Context, subject string, key []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if had, err := k.find(subject); had != nil || err != nil {
		return had, err
	}
	k.bySubject[subject] = key
	return key, nil
}

func (k *memoryKeys) Destroy(_ context.Context, subject string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bySubject[subject] = nil
	return nil
}
