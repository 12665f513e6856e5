package transport_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/remote"
)

// The law: an unreadable frame affects no other message. Its message becomes a dead letter with the
// reason, and the connection and its session continue.

// poison cannot be decoded: its method panics.
type poison struct{}

func (*poison) UnmarshalCBOR([]byte) error { panic("poison") }

func init() { actor.RegisterType[poison]("transport_test.poison") }

// body is v as CBOR. In a list, numbers may be of type int.
func body(t testing.TB, v any) []byte {
	t.Helper()
	if list, ok := v.([]any); ok {
		for i, each := range list {
			if n, ok := each.(int); ok {
				list[i] = int64(n)
			}
		}
	}
	b, err := codec.Marshal(v)
	require.NoError(t, err)
	return b
}

// deflated is data, compressed.
func deflated(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// damaged are the bodies of frames of which no message can be read, by what is wrong.
func damaged(t testing.TB) map[string][][]byte {
	t.Helper()
	one, zeros, none := body(t, 1), body(t, make([]byte, 1<<20)), []byte{}
	whole := body(t, []any{"/user/inbox", 0, "int", none, one})
	text := func(b string) []byte { return append(codec.AppendHead(nil, codec.MajorText, uint64(len(b))), b...) }
	envelope := func(path, name string) []byte {
		b := append(codec.AppendHead(nil, codec.MajorArray, 5), text(path)...)
		b = append(append(append(b, 0), text(name)...), metadata.Empty)
		return append(codec.AppendHead(b, codec.MajorBytes, uint64(len(one))), one...)
	}
	all := map[string][][]byte{
		"nothing":                         {{}},
		"no CBOR":                         {[]byte("xyz")},
		"another array":                   {body(t, []any{"/user/inbox", "0", 1})},
		"number as text":                  {body(t, []any{"/user/inbox", "0", "int", none, one})},
		"metadata without an end":         {bytes.Replace(whole, []byte{metadata.Empty}, []byte{0x5b}, 1)},
		"something behind it":             {append(bytes.Clone(whole), 0)},
		"path that is not UTF-8":          {envelope("/user/\xff", "int")},
		"type that is not UTF-8":          {envelope("/user/inbox", "int\xff")},
		"path that is too long":           {envelope("/user/"+strings.Repeat("x", 5000), "int")},
		"nobody's path":                   {envelope("", "int")},
		"unknown type":                    {body(t, []any{"/user/inbox", 0, "unknown", none, one})},
		"value of another type":           {body(t, []any{"/user/inbox", 0, "int", none, body(t, "one")})},
		"value that is no CBOR":           {body(t, []any{"/user/inbox", 0, "int", none, []byte{0xff}})},
		"value that is not UTF-8":         {body(t, []any{"/user/inbox", 0, "string", none, text("a\xff")})},
		"value that panics":               {body(t, []any{"/user/inbox", 0, "transport_test.poison", none, one})},
		"compressed, but is not":          {body(t, []any{"/user/inbox", 0, "int", none, one, 10})},
		"compressed, of another size":     {body(t, []any{"/user/inbox", 0, "bytes", none, deflated(t, zeros), 7})},
		"compressed, and too large":       {body(t, []any{"/user/inbox", 0, "bytes", none, deflated(t, zeros), 1 << 40})},
		"larger than MaxMessage":          {body(t, []any{"/user/inbox", 0, "bytes", none, make([]byte, maxMessage)})},
		"part that is none":               {body(t, []any{"x", "y"})},
		"part without an end":             {body(t, []any{10, []byte("data")})},
		"part that does not fit":          {body(t, []any{10, []byte("data")}), body(t, []any{0, []byte("x")})},
		"parts of no envelope":            {body(t, []any{4, []byte("data")}), body(t, []any{0, []byte("data")})},
		"parts of more than MaxMessage":   {body(t, []any{maxMessage, whole}), body(t, []any{0, make([]byte, maxMessage)})},
		"part of nothing, among others":   {body(t, []any{8, []byte("data")}), body(t, []any{8, []byte{}})},
		"ref that is nobody's, elsewhere": {body(t, []any{"/user/nobody", 0, "int", none, one})},
	}
	for cut := range whole {
		all["cut off"] = append(all["cut off"], whole[:cut])
	}
	return all
}

const maxMessage = 10_000

func (r *raw) send(body []byte) {
	r.t.Helper()
	r.write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)...)
}

func TestNoDamagedFrameCostsAnotherMessage(t *testing.T) {
	for name, bodies := range damaged(t) {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				b := start(t, n, "b", func(c *transport.Config) { c.MaxMessage = maxMessage })
				inbox, _ := spawn[int](b, "inbox")
				conn := dialUser(t, n, b)
				frames := uint64(0)
				for i := range 10 {
					conn.tell("int", i)
					for _, body := range bodies {
						conn.send(body)
					}
					frames += 1 + uint64(len(bodies))
				}
				conn.tell("int", 10)
				require.Equal(t, frames+1, conn.acknowledged(), "the connection is kept, and all of them are done with")
				require.Equal(t, count(11), inbox.got())
				lost := b.lost.got()
				require.GreaterOrEqual(t, len(lost), 9, "a part without an end is lost with the next one")
				for _, l := range lost {
					require.NotErrorIs(t, l.Reason, actor.ErrUnreachable)
					require.True(t, strings.HasPrefix(l.Recipient, "understudy://test@"+b.Addr()), l.Recipient)
				}
				require.EqualValues(t, len(lost), b.sys.DeadLetters())
			})
		})
	}
}

func TestADeadLetterOfADamagedEnvelopeSaysForWhomItWasAndWhy(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b", func(c *transport.Config) { c.MaxMessage = maxMessage })
		conn := dialUser(t, n, b)
		for _, name := range []string{"larger than MaxMessage", "parts of more than MaxMessage", "compressed, of another size", "type that is not UTF-8"} {
			for _, body := range damaged(t)[name] {
				conn.send(body)
			}
		}
		soon()
		lost := b.lost.got()
		require.Len(t, lost, 4)
		for _, l := range lost {
			require.Equal(t, "understudy://test@"+b.Addr()+"/user/inbox", l.Recipient)
			require.ErrorIs(t, l.Reason, actor.ErrNotDecodable)
		}
		require.ErrorIs(t, lost[0].Reason, remote.ErrTooLarge)
		require.ErrorIs(t, lost[1].Reason, remote.ErrTooLarge)
		require.Equal(t, "bytes", lost[0].Message.(extension.Payload).Type)
		require.ErrorContains(t, lost[3].Reason, `not UTF-8: "int\xff"`)
	})
}

// A message to a path with a bad byte once broke the session between two nodes: up to a quarter of
// the messages to other actors were lost meanwhile.
func TestATargetThatNoPeerCouldReadIsADeadLetterOfTheSender(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		inbox, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		paths := []string{"/user/a\xff", "/user/a\n", "/user//a", "", "/user/é"}
		for i := range 20_000 {
			to.Tell(i)
			if i%100 == 0 {
				path := paths[i/100%len(paths)]
				a.Send(a.sys, extension.Target{Address: b.Addr(), Path: path, Full: "understudy://test@" + b.Addr() + path}, i)
				ref[int](a, b, path).Tell(i)
			}
			if i%500 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(10 * time.Second)
		require.Equal(t, count(20_000), inbox.got())
		require.Len(t, a.lost.got(), 400)
		for _, l := range b.lost.got() {
			require.ErrorIs(t, l.Reason, actor.ErrNoRef, "what is told to nobody is everybody's")
		}
	})
}

// A node that takes less than another sends closed the connection.
func TestANodeWithALowerMaxMessageRefusesWhatIsLargerAndNothingElse(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b", func(c *transport.Config) { c.MaxMessage = maxMessage })
		inbox, _ := spawn[int](b, "inbox")
		to := ref[int](a, b, "/user/inbox")
		large := ref[string](a, b, "/user/large")
		for i := range 2000 {
			to.Tell(i)
			if i%100 == 0 {
				large.Tell(strings.Repeat("x", []int{maxMessage, 20_000, 100_000, 1_000_000}[i/100%4]))
			}
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(10 * time.Second)
		require.Equal(t, count(2000), inbox.got())
		require.Empty(t, a.lost.got())
		require.Len(t, b.lost.got(), 20)
		for _, l := range b.lost.got() {
			require.ErrorIs(t, l.Reason, remote.ErrTooLarge)
			require.Equal(t, "understudy://test@"+b.Addr()+"/user/large", l.Recipient)
		}
	})
}

func FuzzNoFrameCostsAnotherMessage(f *testing.F) {
	for _, bodies := range damaged(f) {
		for _, body := range bodies {
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, damaged []byte) {
		if len(damaged) > maxMessage {
			return // that ends the connection: see TestGarbageClosesItsConnectionAndNothingElse
		}
		bubble(t, func(t *testing.T, n *memnet.Network) {
			b := start(t, n, "b")
			inbox, _ := spawn[string](b, "inbox")
			conn := dialUser(t, n, b)
			conn.tell("string", "before all")
			conn.send(damaged)
			conn.tell("string", "behind all")
			require.EqualValues(t, 3, conn.acknowledged())
			got := inbox.got()
			require.Equal(t, "before all", got[0])
			require.Equal(t, "behind all", got[len(got)-1])
		})
	})
}
