package jetstream

import (
	"context"
	"iter"
)

const (
	prefetch = 128
	// prefetchBytes bounds the bytes in flight, assuming that messages are as large as the previous
	// ones.
	prefetchBytes = 4 << 20
)

// gets yields n messages of stream, in order: the ith is the one at at(i). It requests messages
// ahead, and more of them while they are small. [errMissing] is the leader's answer.
func (j *Journal) gets(ctx context.Context, stream string, n int, at func(i int) uint64, bare bool) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		var asking [prefetch]asked // the request for i is at i modulo its length
		began, done := 0, 0
		defer func() {
			for ; done < began; done++ {
				asking[done%prefetch].forget()
			}
		}()
		for window, size := 4, 0; done < n; {
			for ; began < n && began < done+window; began++ {
				asking[began%prefetch] = j.askFor(stream, at(began), bare)
			}
			a := asking[done%prefetch]
			m, err := j.got(ctx, a, stream, at(done))
			a.forget()
			done++
			if !yield(m, err) {
				return
			}
			size = max(len(m.data), size-size/8, 1)
			window = max(2, min(2*window, prefetch, prefetchBytes/size))
		}
	}
}
