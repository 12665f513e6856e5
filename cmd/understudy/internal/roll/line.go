package roll

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// A line says how a node is started: variables of its environment, and arguments.
type line struct{ env, args []string }

const program = "{program}"

// Placeholders, which are explained by [docs/cli.md]. Those with a hyphen are the ports alone.
var (
	places = []string{"{name}", "{node}", "{node-port}", "{seeds}", "{http}", "{http-port}", "{journal}", "{n}"}
	needed = [][]string{{"{node}", "{node-port}"}, {"{seeds}"}, {"{http}", "{http-port}"}, {"{journal}"}}
)

// parseLine takes a line apart, such as
//
//	SHOP_BIND={node} SHOP_SEEDS={seeds} {program} -http {http} -journal {journal}
//
// White space separates words, and there are no quotes.
func parseLine(text string) (line, error) {
	var l line
	words := strings.Fields(text)
	for len(words) > 0 && words[0] != program {
		if !strings.Contains(words[0], "=") {
			return l, fmt.Errorf("-roll: %q is no NAME=value, and stands before %s; say: NAME=value … %s ARGUMENT …", words[0], program, program)
		}
		l.env, words = append(l.env, words[0]), words[1:]
	}
	if len(words) == 0 {
		return l, errors.New("-roll: the line has no {program}, which stands for the file of a build")
	}
	l.args = words[1:]
	return l, l.check(text)
}

// Check says what is wrong with a line, a load and the URL of a status page.
func Check(text, load, page string) error {
	_, err := parseLine(text)
	if err == nil {
		_, err = newLoad(load, nil)
	}
	if err == nil && !strings.Contains(page, "{http") {
		err = fmt.Errorf("-page: %q is the same for all nodes; it needs {http} or {http-port}", page)
	}
	return errors.Join(err, unknown("-page", page))
}

func (line) check(text string) error {
	for _, any := range needed {
		if !containsAny(text, any) {
			return fmt.Errorf("-roll: the line has no %s, so the nodes would not be apart from others: give it as your program takes it, as a variable or an argument", any[0])
		}
	}
	return unknown("-roll", strings.ReplaceAll(text, program, ""))
}

func containsAny(text string, all []string) bool {
	for _, one := range all {
		if strings.Contains(text, one) {
			return true
		}
	}
	return false
}

// unknown returns an error for a word in braces that is no placeholder.
func unknown(flag, text string) error {
	rest := text
	for _, p := range places {
		rest = strings.ReplaceAll(rest, p, "")
	}
	if i := strings.IndexByte(rest, '{'); i >= 0 {
		if j := strings.IndexByte(rest[i:], '}'); j > 0 {
			return fmt.Errorf("%s: %s is no placeholder; there are %s", flag, rest[i:i+j+1], strings.Join(places, " "))
		}
	}
	return nil
}

func (l line) command(n *node) (args, env []string) {
	for _, a := range l.args {
		args = append(args, n.fill(a))
	}
	env = os.Environ()
	for _, e := range l.env {
		env = append(env, n.fill(e))
	}
	return args, env
}
