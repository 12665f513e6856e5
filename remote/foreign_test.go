package remote_test

import (
	"testing"
	"time"

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
		"?????":                                          `it begins with "????"`,
		"":                                               "closed without an answer, as what is no node does",
	} {
		bubble(t, func(t *testing.T, n *memnet.Network) {
			end := serveRaw(t, n, func(r *raw) {
				r.skip()
				r.readFields()
				r.write([]byte(said)...)
			})
			failures := &collector[error]{}
			a := start(t, n, "a", func(c *remote.Config) { c.DialFailed = func(_ string, err error) { failures.add(err) } })
			a.SendControl("raw:7355", []byte("hello"))
			time.Sleep(time.Second)
			require.NotEmpty(t, failures.got(), "%q", said)
			require.ErrorContains(t, failures.got()[0], want, "%q", said)
			if said != "" && said[0] != '?' {
				require.ErrorIs(t, failures.got()[0], remote.ErrForeign)
			}
			a.stop()
			end()
		})
	}
}

func TestWithTLSToWhatIsNoNodeIsNamedToo(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		end := serveRaw(t, n, func(r *raw) { r.write([]byte("SSH-2.0-OpenSSH_9.6\r\n")...) })
		failures := &collector[error]{}
		a := start(t, n, "a", ring(keyring(t, secret(1))), func(c *remote.Config) {
			c.DialFailed = func(_ string, err error) { failures.add(err) }
		})
		a.SendControl("raw:7355", []byte("hello"))
		time.Sleep(time.Second)
		require.ErrorIs(t, failures.got()[0], remote.ErrForeign)
		require.ErrorContains(t, failures.got()[0], "SSH")
		a.stop()
		end()
	})
}
