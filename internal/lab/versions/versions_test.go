//go:build unix

package versions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/process"
)

// versionEnv makes the test binary a version of the application.
const versionEnv = "UNDERSTUDY_VERSION"

func TestMain(m *testing.M) {
	v, ok := versions[os.Getenv(versionEnv)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := run(context.Background(), v, os.Args[1], os.Args[2:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// An app is a process of one version.
type app struct {
	*process.Process
	t    *testing.T
	addr string
}

// start starts a version, with its journal and its seeds.
func start(t *testing.T, version, database string, seeds ...string) *app {
	t.Helper()
	p, err := process.Start(process.Self([]string{versionEnv + "=" + version}, append([]string{database}, seeds...)...))
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	a := &app{Process: p, t: t}
	a.addr = a.line()
	return a
}

// line returns the next line of the process.
func (a *app) line() string {
	a.t.Helper()
	line, ok := a.Line()
	require.True(a.t, ok, "the process has ended")
	return line
}

// do gives the process a command.
func (a *app) do(words ...string) {
	a.t.Helper()
	require.NoError(a.t, a.Tell(strings.Join(words, " ")))
}

// add lets the process increase the counter.
func (a *app) add() string {
	a.t.Helper()
	a.do("add")
	return a.line()
}

// leave lets the process leave the cluster and end.
func (a *app) leave() {
	a.t.Helper()
	a.do("leave")
	require.Equal(a.t, "left <nil>", a.line())
	require.NoError(a.t, a.Wait())
}

func TestTwoVersionsOfAnApplicationExchangeMessages(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "journal.db")
	one := start(t, "1", database)
	two := start(t, "2", database, one.addr)

	one.do("tell", two.addr, "order")
	require.Equal(t, `handled versions.orderV2{Item:"tea", Quantity:0}`, two.line(), "the coupon is ignored, the quantity is zero")
	two.do("tell", one.addr, "order")
	require.Equal(t, `handled versions.orderV1{Item:"tea", Coupon:""}`, one.line(), "the quantity is ignored, the coupon is empty")

	one.do("tell", two.addr, "cancelled")
	require.Equal(t, `handled versions.withdrawn{Item:"tea"}`, two.line(), "the old name says what it is")
	two.do("tell", one.addr, "cancelled")
	require.Equal(t, `handled versions.cancelled{Item:"tea"}`, one.line())

	two.do("tell", two.addr, "refund")
	require.Contains(t, two.line(), "handled versions.refund{")
	two.do("tell", one.addr, "refund")
	require.Contains(t, one.line(), "shop.refund", "the dead letter names the type")
	two.do("refund", one.addr)
	require.Contains(t, one.line(), "shop.refund")
	require.Contains(t, two.line(), `no type is registered as "shop.refund"`, "an ask fails at once, with the reason")
	two.do("tell", one.addr, "order")
	require.Contains(t, one.line(), "handled", "what follows arrives")
}

func TestAnEventSourcedSingletonMovesToANewVersionAndBack(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "journal.db")
	one := start(t, "1", database)
	require.Equal(t, "sum 1 <nil>", one.add())
	two := start(t, "2", database, one.addr)
	require.Equal(t, "sum 2 <nil>", two.add(), "the old version counts for the new one")
	one.leave()
	require.Equal(t, "sum 3 <nil>", two.add(), "the new version has read the events of the old one")
	again := start(t, "1", database, two.addr)
	require.Equal(t, "sum 4 <nil>", again.add())
	two.leave()
	require.Equal(t, "sum 5 <nil>", again.add(), "the old version has read the events of the new one")
	again.leave()
}
