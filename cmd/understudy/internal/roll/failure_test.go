package roll

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorsAreFoundInTheLinesOfSeveralLoggers(t *testing.T) {
	for _, c := range [][2]string{
		{`{"level":"error","ts":1,"msg":"actor failed","error":"no table"}`, "actor failed: no table"},
		{`{"time":"2026-11-30","level":"ERROR","msg":"no room"}`, "no room"},
		{"2026-11-30T12:00:00.000Z\tERROR\tcluster\tcluster/node.go:216\tnode has ended\t{\"error\": \"refused\"}", "node has ended: refused"},
		{"2026-11-30T12:00:00.000Z\tERROR\tno room", "no room"},
		{`time=2026-11-30 level=ERROR msg="no room" order=7`, "no room: order=7"},
		{`time=2026-11-30 level=ERROR msg=full`, "full"},
		{"panic: no room", "panic: no room"},
		{"fatal error: all goroutines are asleep", "fatal error: all goroutines are asleep"},
		{`{"level":"warn","msg":"an error"}`, ""},
		{"2026-11-30T12:00:00.000Z\tWARN\tno ERROR", ""},
		{`{"level":"error"`, ""},
		{"an ERROR without a level", ""},
		{"ERROR\t", ""},
	} {
		line, want := c[0], c[1]
		f, ok := failureIn(line)
		require.Equal(t, want != "", ok && f.message != "", line)
		require.Equal(t, want, f.String(), line)
	}
}

func TestAnOutputKeepsItsLastLinesAndEachErrorOnce(t *testing.T) {
	o := new(output)
	for i := range 5 {
		_, _ = fmt.Fprintf(o, "line %d\n{\"level\":\"error\",\"msg\":\"failed\",\"error\":\"%d\"}\n", i, i)
	}
	_, _ = fmt.Fprint(o, "the licence ")
	_, _ = fmt.Fprint(o, "has expired")
	require.Equal(t, []failure{{"failed", "0"}}, o.errors())
	require.Empty(t, o.errors())
	require.Contains(t, o.last(), "line 4\n")
	require.Contains(t, o.last(), "\nthe licence has expired")
	require.NotContains(t, o.last(), "line 3")
	require.Equal(t, "line 0\n"+`{"level":"error","msg":"failed","error":"0"}`+"\nline 1\n…\n"+`{"level":"error","msg":"failed","error":"3"}`+
		"\nline 4\n"+`{"level":"error","msg":"failed","error":"4"}`+"\nthe licence has expired", o.ends())
	o.begin()
	require.Empty(t, o.last())
	require.Empty(t, o.ends())
	_, _ = fmt.Fprint(o, "flag provided but not defined: -htp\n")
	require.Equal(t, "flag provided but not defined: -htp", o.ends())
}
