package transport_test

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

// A seed that was a web server was told of as "malformed frame: 1213486160 bytes".
func TestWhatIsNoNodeIsNamedByItsProtocol(t *testing.T) {
	for said, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n\r\n":               "it speaks HTTP;",
		"\x00\x00\x12\x04\x00\x00\x00\x00\x00":           "it speaks HTTP/2",
		"\x15\x03\x01\x00\x02\x02\x46":                   "it speaks TLS",
		"SSH-2.0-OpenSSH_9.6\r\n":                        "it speaks SSH",
		"-ERR unknown command\r\n":                       "it speaks the protocol of Redis",
		"-DENIED Redis is running in protected mode\r\n": "it speaks the protocol of Redis",
		"INFO {\"server_id\":\"N\"}\r\n":                 "it speaks the protocol of NATS",
		"ERROR\r\n":                                      "it speaks the protocol of memcached",
		"AMQP\x00\x00\x09\x01":                           "it speaks AMQP",
		"220 mail.example ESMTP\r\n":                     "it speaks SMTP or FTP",
		"E\x00\x00\x00\x80SFATAL\x00":                    "it speaks the protocol of PostgreSQL",
		"\x4a\x00\x00\x00\x0a8.0.36\x00":                 "it speaks the protocol of MySQL",
	} {
		for _, secure := range []bool{false, true} {
			err := answeredBy(t, said, secure)
			require.ErrorIs(t, err, remote.ErrForeign, "%q %v", said, secure)
			require.ErrorContains(t, err, want, "%q %v", said, secure)
			require.NotErrorIs(t, err, remote.ErrNotAuthenticated)
		}
	}
}

func TestWhatIsNotKnownToBeNoNodeIsNotNamed(t *testing.T) {
	for _, c := range []struct {
		said   string
		secure bool
		want   string
	}{
		{"?????", false, `it begins with "????", so it may be no node`},
		{"?????", true, "it does not speak TLS"},
		{"", false, "closed without an answer, as what is no node does"},
		{"", true, "EOF"},
	} {
		err := answeredBy(t, c.said, c.secure)
		require.ErrorContains(t, err, c.want, "%q %v", c.said, c.secure)
		require.NotErrorIs(t, err, remote.ErrForeign)
	}
}

// answeredBy returns why a node cannot connect to what answers its first words so.
func answeredBy(t *testing.T, said string, secure bool) (failure error) {
	t.Helper()
	bubble(t, func(t *testing.T, n *memnet.Network) {
		end := serveRaw(t, n, func(r *raw) {
			_, err := r.Read(make([]byte, 4096))
			require.NoError(t, err)
			r.write([]byte(said)...)
		})
		failures := &collector[error]{}
		protect := func(*transport.Config) {}
		if secure {
			protect = ring(keyring(t, secret(1)))
		}
		a := start(t, n, "a", protect, func(c *transport.Config) { c.DialFailed = func(_ string, err error) { failures.add(err) } })
		a.SendControl("raw:7355", []byte("hello"))
		time.Sleep(time.Second)
		require.NotEmpty(t, failures.got(), "%q", said)
		failure = failures.got()[0]
		a.stop()
		end()
	})
	return failure
}
