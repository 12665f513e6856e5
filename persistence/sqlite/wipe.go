package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"

	sqlite "modernc.org/sqlite"
)

// wipe overwrites the unused space in all pages of the tables that have what users store. SQLite
// has overwritten what it deleted. When it rearranges pages, however, it leaves copies of cells
// there.
func (j *Journal) wipe(ctx context.Context, id string) error {
	for _, tree := range []string{"event", "event_tag", "snapshot", "timer"} {
		err := j.change(ctx, "forget", id, func(t *transaction) error { return t.exec(t.stmts.wipe, tree) })
		if err != nil {
			return err
		}
	}
	return nil
}

// wipePages examines each page of a tree except overflow pages, which have no such space.
const wipePages = "UPDATE sqlite_dbpage SET data = " + wipedFunction + "(data) " +
	"WHERE pgno IN (SELECT pageno FROM dbstat WHERE name = ? AND pagetype IN ('leaf', 'internal')) AND " + wipedFunction + "(data) IS NOT NULL"

// wipedFunction is wiped in SQL.
const wipedFunction = "understudy_wiped"

func init() {
	sqlite.MustRegisterDeterministicScalarFunction(wipedFunction, 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		page, ok := args[0].([]byte)
		if !ok {
			return nil, fmt.Errorf("%s of a %T", wipedFunction, args[0])
		}
		if page = wiped(page); page == nil {
			return nil, nil
		}
		return page, nil
	})
}

// wiped returns a page of a tree with zeros in its unused space, or nil if it has only zeros there.
// The form of pages is documented at https://sqlite.org/fileformat2.html#b_tree_pages.
func wiped(page []byte) []byte {
	const interiorIndex, interiorTable, leafIndex, leafTable = 2, 5, 10, 13
	if len(page) < 512 {
		return nil
	}
	header := 8
	switch page[0] {
	case interiorIndex, interiorTable:
		header = 12
	case leafIndex, leafTable:
	default:
		return nil
	}
	cells := int(binary.BigEndian.Uint16(page[3:]))
	content := int(binary.BigEndian.Uint16(page[5:]))
	if content == 0 {
		content = 1 << 16
	}
	unused := header + 2*cells
	if content > len(page) || unused >= content || len(bytes.Trim(page[unused:content], "\x00")) == 0 {
		return nil
	}
	page = bytes.Clone(page)
	clear(page[unused:content])
	return page
}
