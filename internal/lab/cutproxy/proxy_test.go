package cutproxy

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// echo is a server that answers each line with itself, and reports what it has got.
func echo(t *testing.T) (addr string, got <-chan string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	lines := make(chan string, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				for scanner := bufio.NewScanner(conn); scanner.Scan(); {
					lines <- scanner.Text()
					_, _ = io.WriteString(conn, scanner.Text()+"\n")
				}
			}()
		}
	}()
	return listener.Addr().String(), lines
}

func TestTheProxyForwardsBothWaysAndLosesAnswersOnDemand(t *testing.T) {
	addr, got := echo(t)
	proxy, err := Start(addr)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })

	dial := func() net.Conn {
		conn, err := net.Dial("tcp", proxy.Addr())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	say := func(conn net.Conn, line string) {
		_, err := io.WriteString(conn, line+"\n")
		require.NoError(t, err)
		require.Equal(t, line, <-got)
	}

	conn := dial()
	say(conn, "one")
	answer, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "one\n", answer)

	proxy.LoseAnswers(true)
	say(conn, "two")
	require.Eventually(t, func() bool { return proxy.Lost() == int64(len("two\n")) }, 10*time.Second, time.Millisecond) //nolint:forbidigo // a real socket
	proxy.Cut()
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err)

	proxy.LoseAnswers(false)
	conn = dial()
	say(conn, "three")
	answer, err = bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "three\n", answer)
}
