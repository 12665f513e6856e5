package transport

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/transport/wire"
	"github.com/understudy-go/understudy/remote"
)

// An inbound counts the frames that arrive, and acknowledges them.
type inbound struct {
	key      linkKey
	from     remote.NodeID
	agreed   agreement
	session  uint64
	conn     net.Conn
	patience time.Duration // of writes
	idle     time.Duration // how long nothing may come
	hang     sync.Once
	stop     chan struct{} // closed by hangUp or dismiss
	done     chan struct{} // closed when nothing is read any more
	over     bool          // the session will not go on; guarded by sessions.mu

	// All below belongs to the reading goroutine, until done is closed.
	frames   *wire.FrameReader
	settle   func() // see read
	lend     func() (replaced bool)
	arrivals arrivals
	received uint64           // frames of the session
	parts    wire.Reassembler // of the session, too; guarded by sessions.mu when done is closed
	acked    uint64           // the last count that the peer was told
	unacked  int              // bytes since then
	timed    bool             // reading has a near deadline: then the count is due
	ended    time.Time        // when done was closed
}

// An acknowledgement is the count of all frames of the session, in eight bytes. It is sent after
// ackFrames frames, ackBytes bytes or ackDelay.
const (
	ackSize   = 8
	ackFrames = 1024
	ackBytes  = 256 << 10
	ackDelay  = 10 * time.Millisecond
)

// Another goroutine reads now, and nothing of the inbound belongs to this one any more.
var errReplaced = errors.New("remote: another goroutine reads")

// A frame is valid until handle returns. settle delivers what handle has put aside, before each
// acknowledgement. lend does so before each read that may block, and may replace the goroutine.
func (in *inbound) read(handle func(body []byte), settle func(), lend func() (replaced bool)) error {
	in.settle, in.lend = settle, lend
	for {
		if err := in.readNext(handle); err != nil {
			if !errors.Is(err, errReplaced) {
				settle()
			}
			return err
		}
	}
}

func (in *inbound) readNext(handle func(body []byte)) error {
	body, err := in.next()
	if err != nil {
		return err
	}
	handle(body)
	if in.received-in.acked >= ackFrames || in.unacked >= ackBytes {
		return in.acknowledge()
	}
	return nil
}

// An invalid frame counts as received, or the peer would send it again.
func (in *inbound) next() ([]byte, error) {
	for {
		body, missing, err := in.frames.Buffered()
		if missing == 0 {
			in.received++
			in.unacked += len(body)
			in.arrivals.messages++
			in.arrivals.bytes += uint64(len(body))
			return body, err
		}
		if err := in.fill(missing); err != nil {
			return nil, err
		}
	}
}

// fill acknowledges if nothing arrives for a while.
func (in *inbound) fill(size int) error {
	in.arrivals.publish()
	if in.lend() {
		return errReplaced
	}
	if err := in.setTimer(in.acked != in.received); err != nil {
		return err
	}
	if isClosed(in.stop) {
		return in.leave()
	}
	err := in.frames.Fill(size)
	if in.timed && errors.Is(err, os.ErrDeadlineExceeded) {
		in.frames.Shrink()
		return in.acknowledge()
	}
	return err
}

// The deadline is ackDelay if an acknowledgement is due, and else the time after which an idle or
// dead connection is closed. Closing costs nothing: the session continues on the next connection.
func (in *inbound) setTimer(on bool) error {
	if on == in.timed {
		return nil
	}
	in.timed = on
	if !on {
		return in.conn.SetReadDeadline(time.Now().Add(in.idle))
	}
	return in.conn.SetReadDeadline(time.Now().Add(ackDelay))
}

func (in *inbound) acknowledge() error {
	in.settle()
	in.arrivals.publish()
	if err := in.conn.SetWriteDeadline(time.Now().Add(in.patience)); err != nil {
		return err
	}
	in.acked, in.unacked = in.received, 0
	var count [ackSize]byte
	binary.BigEndian.PutUint64(count[:], in.acked)
	_, err := in.conn.Write(count[:])
	return err
}

// The reading ends soon, with an acknowledgement of all that has been received. Without that, the
// peer would not know whether the last messages have arrived.
func (in *inbound) dismiss() {
	in.hang.Do(func() {
		close(in.stop)
		_ = in.conn.SetReadDeadline(time.Unix(1, 0)) // if it fails, the connection has ended
	})
}

func (in *inbound) leave() error {
	if in.acked != in.received {
		if err := in.acknowledge(); err != nil {
			return err
		}
	}
	return errHungUp
}

// An ended inbound keeps only what its session needs, without the buffer and the last message.
func (in *inbound) end() {
	in.hangUp()
	in.arrivals.publish()
	in.conn, in.frames, in.settle, in.lend = nil, nil, nil, nil
	in.ended = time.Now()
	close(in.done)
}

func (in *inbound) hangUp() {
	in.hang.Do(func() {
		close(in.stop)
		discard(in.conn)
	})
}

func (in *inbound) finished() bool { return isClosed(in.done) }

// A larger frame cannot come from a peer with our protocol, and the next frame could not be found.
// A peer with a higher MaxMessage sends larger messages in parts, or in a frame as large as a part.
func maxFrame(l channel, maxMessage int) int {
	if l == channelUser {
		return max(maxMessage, wire.MaxPart+wire.PartOverhead)
	}
	return maxMessage
}

// In bytes, of messages whose connections have ended. The newest message is kept in any case.
const maxIncomplete = 64 << 20

// The sender of an incomplete message continues soon on another connection, or gives up, or begins
// a new session, after which nothing needs the message. sessions.mu guards it.
type incomplete struct {
	all   []incompleteMessage // the oldest first
	bytes int
}

type incompleteMessage struct {
	of    *inbound
	timer *time.Timer
}

// late is called after patience, if there is an incomplete message.
func (h *incomplete) keep(in *inbound, patience time.Duration, late func()) {
	size := in.parts.Len()
	if size == 0 {
		return
	}
	in.parts.Trim()
	h.all = append(h.all, incompleteMessage{in, time.AfterFunc(patience, late)})
	for h.bytes += size; h.bytes > maxIncomplete && len(h.all) > 1; {
		h.giveUp(h.all[0].of)
	}
}

// The session cannot continue without the message.
func (h *incomplete) giveUp(in *inbound) {
	if h.drop(in) {
		in.over = true
	}
}

// False means that nothing is kept for in.
func (h *incomplete) drop(in *inbound) bool {
	i := slices.IndexFunc(h.all, func(x incompleteMessage) bool { return x.of == in })
	if i < 0 {
		return false
	}
	h.all[i].timer.Stop()
	h.all = slices.Delete(h.all, i, i+1)
	h.bytes -= in.parts.Len()
	in.parts = wire.Reassembler{}
	return true
}

func (h *incomplete) dropAll() {
	for len(h.all) > 0 {
		h.drop(h.all[0].of)
	}
}
