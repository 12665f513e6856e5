package postgres

const (
	// firstRecords bounds the first page, because the size of the records is still unknown;
	// pageRecords bounds the later ones.
	firstRecords = 128
	pageRecords  = 4096
	pageBytes    = 1 << 20
	// cutBytes is where a page is cut off if it is much larger than intended. The rest is cancelled
	// at the server, which takes 0.1 s.
	cutBytes = 4 * pageBytes
)

// A pager computes how many records to request, so that a page has about [pageBytes]. It estimates
// from the sizes of the previous records. Letting the server add up the sizes would make the query
// a third slower.
type pager struct {
	limit   int // how many records were requested
	records int
	bytes   int
	cut     bool // the page ends earlier, because it is too large
}

func (p *pager) begin() int {
	limit := firstRecords
	if p.records > 0 {
		limit = min(max(pageBytes*p.records/max(p.bytes, 1), 1), pageRecords)
	}
	*p = pager{limit: limit}
	return limit
}

// add counts a record, and reports whether the page must end with it.
func (p *pager) add(payload []byte) (end bool) {
	p.records++
	p.bytes += len(payload)
	p.cut = p.bytes >= cutBytes && p.records < p.limit
	return p.cut
}

func (p *pager) last() bool { return !p.cut && p.records < p.limit }
