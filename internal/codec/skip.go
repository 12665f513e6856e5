package codec

// maxSkipDepth is below [MaxDepth], because what is skipped is inside of something else.
const maxSkipDepth = MaxDepth / 2

// Skip returns what follows the first item of data. ok is false if the item is malformed, is nested
// deeper than 32 levels, or has no length at its beginning, which nothing encoded here has.
func Skip(data []byte) (rest []byte, ok bool) { return skip(data, maxSkipDepth) }

func skip(data []byte, depth int) (rest []byte, ok bool) {
	major, n, rest, ok := Head(data)
	if !ok || depth == 0 {
		return nil, false
	}
	switch major {
	case MajorUint, MajorNegative:
		return rest, true
	case MajorBytes, MajorText:
		if n > uint64(len(rest)) {
			return nil, false
		}
		return rest[n:], true
	case MajorArray:
		return skipItems(rest, n, depth)
	case MajorMap:
		return skipItems(rest, 2*min(n, maxElements+1), depth)
	case MajorTag:
		return skip(rest, depth-1)
	}
	return rest, data[0] != simpleByte || n >= 32 // a lower number has a shorter form
}

func skipItems(data []byte, n uint64, depth int) (rest []byte, ok bool) {
	if n > 2*maxElements {
		return nil, false
	}
	for rest, ok = data, true; n > 0 && ok; n-- {
		rest, ok = skip(rest, depth-1)
	}
	return rest, ok
}
