package postgres

const (
	// firstRecords and pageRecords bound a page: the first, as nothing is known of what comes,
	// and those after it.
	firstRecords = 128
	pageRecords  = 4096
	// pageBytes is what a page is to have, at most.
	pageBytes = 1 << 20
	// cutBytes is where a page is cut off that has turned out to be much larger: the rest is
	// called off at the server, which takes a tenth of a second.
	cutBytes = 4 * pageBytes
)

// A pager says how many records to ask for, so that a page has about [pageBytes]: it goes by
// the size of those before. For the server to add up sizes would slow it down by a third.
type pager struct {
	limit   int // how many were asked for
	records int
	bytes   int
	cut     bool // the page ends before that, as it is too large
}

// begin returns how many records the next page may have.
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

// last reports whether a page that came wholly has nothing behind it.
func (p *pager) last() bool { return !p.cut && p.records < p.limit }
