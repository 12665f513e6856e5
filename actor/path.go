package actor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/internal/naming"
)

const (
	scheme = "understudy://"

	// The paths of asks and adapters, which end with a slash and their number. A message from
	// another node has the number beside the path.
	askPath  = "/ask"
	tempPath = "/temp"
)

func (c *core) fullPath() string {
	switch {
	case c == nil:
		return ""
	case c.sys == nil:
		return c.label // as it was decoded
	}
	switch r := c.impl.(type) {
	case *remoteActor:
		return r.sendTo.Full // its system may have another name
	case *routed:
		return formatPath(c.sys.name, "", c.path()) // on every node
	}
	return formatPath(c.sys.name, c.sys.address, c.localPath())
}

func (c *core) localPath() string {
	if c.outside {
		return string(c.appendOutside(nil))
	}
	return c.path()
}

// path is "" for an ask or adapter. Each call composes it, because it is rarely needed.
func (c *core) path() string {
	switch {
	case c.outside:
		return ""
	case c.parent == nil:
		return c.label
	}
	return c.parent.path() + "/" + c.name()
}

const madeUp = "$"

// c has a parent.
func (c *core) name() string {
	if c.label == "" {
		return madeUp + strconv.FormatUint(c.uid, 36)
	}
	return c.label
}

// address is "" for a system without an address.
func (c *core) address() string {
	if r, remote := c.impl.(*remoteActor); remote {
		return r.sendTo.Address
	}
	return c.sys.address
}

func (c *core) fullString() string {
	if c == nil {
		return ""
	}
	if c.uid == 0 {
		return c.fullPath()
	}
	return c.fullPath() + "#" + strconv.FormatUint(c.uid, 10)
}

func (c *core) appendFullString(buf []byte) []byte {
	if !c.outside || c.sys == nil || c.sys.address == "" {
		return append(buf, c.fullString()...)
	}
	buf = append(append(append(append(buf, scheme...), c.sys.name...), '@'), c.sys.address...) // each ask of another node needs it
	return strconv.AppendUint(append(c.appendOutside(buf), '#'), c.uid, 10)
}

func (c *core) appendOutside(buf []byte) []byte {
	path := tempPath
	if askerOf(c) != nil {
		path = askPath
	}
	return strconv.AppendUint(append(append(buf, path...), '/'), c.uid, 10)
}

// ok is false for the path of an actor in the tree.
func outsideTree(path string) (kind, number string, ok bool) {
	for _, kind := range []string{askPath, tempPath} {
		if number, ok := strings.CutPrefix(path, kind+"/"); ok {
			return kind, number, true
		}
	}
	return "", "", false
}

func formatPath(system, address, path string) string {
	if address == "" {
		return scheme + system + path
	}
	return scheme + system + "@" + address + path
}

type location struct {
	system, address, path string
	uid                   uint64
}

func parsePath(s string) (location, error) {
	rest, ok := strings.CutPrefix(s, scheme)
	if !ok {
		return location{}, fmt.Errorf("actor: path %q does not begin with %s", s, scheme)
	}
	rest, number, hasNumber := strings.Cut(rest, "#")
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return location{}, fmt.Errorf("actor: path %q names no actor", s)
	}
	var l location
	l.system, l.address, _ = strings.Cut(rest[:slash], "@")
	l.path = rest[slash:]
	if hasNumber {
		uid, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return location{}, fmt.Errorf("actor: path %q has a malformed number", s)
		}
		l.uid = uid
	}
	if err := l.check(); err != nil {
		return location{}, fmt.Errorf("actor: path %q is no actor's: %w", s, err)
	}
	return l, nil
}

func (l location) check() error {
	if err := naming.CheckSystem(l.system); err != nil {
		return fmt.Errorf("its system name %q %w; it must be %s", l.system, err, naming.OfSystem)
	}
	if l.address != "" {
		if err := naming.CheckPlace(l.address); err != nil {
			return fmt.Errorf("its address %q %w", l.address, err)
		}
	}
	if err := naming.CheckPath(l.path); err != nil {
		return fmt.Errorf("what follows its system %w", err)
	}
	return nil
}

func checkName(name string) {
	if err := naming.CheckElement(name); err != nil {
		panic(fmt.Sprintf("actor: name %q %v", name, err))
	}
}
