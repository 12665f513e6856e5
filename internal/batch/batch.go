// Package batch splits a list that is too large for one message.
package batch

// Split splits all, in order, into batches of at most bytes bytes, where size returns the size of
// an element. An element that is larger by itself is a batch of its own.
func Split[E any](all []E, bytes int, size func(E) int) (batches [][]E) {
	from, sum := 0, 0
	for i, each := range all {
		if sum > 0 && sum+size(each) > bytes {
			batches = append(batches, all[from:i])
			from, sum = i, 0
		}
		sum += size(each)
	}
	if from < len(all) {
		batches = append(batches, all[from:])
	}
	return batches
}
