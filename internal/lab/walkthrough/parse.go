package walkthrough

import (
	"fmt"
	"slices"
	"strings"
)

// A Step is a file to save, or commands with what they print.
type Step struct {
	Line     int    // of its fence in the page
	File     string // the name of the file; "" if the step is commands
	Edit     bool   // whether Text is the changes of the file
	Text     string // the content of the file or its changes, or the commands
	Output   string // what the commands print
	Compared bool   // whether the page says what the commands print
}

type fence struct {
	line int
	info []string // the words behind the opening marks
	text string
}

// Parse returns the steps of a page. Fences of commands that need a program that not every machine
// has are marked with its name, as in ```sh kubectl. They are steps if programs has that name.
func Parse(page string, programs ...string) ([]Step, error) {
	fences, err := fencesOf(page)
	if err != nil {
		return nil, err
	}
	var steps []Step
	var before fence // the fence before
	for _, f := range fences {
		switch file := f.file(); {
		case file != "":
			steps = append(steps, Step{Line: f.line, File: file, Edit: f.info[0] == "diff", Text: f.text})
		case f.is("sh", programs):
			steps = append(steps, Step{Line: f.line, Text: f.text})
		case f.is("text", programs):
			if !before.is("sh", programs) {
				return nil, fmt.Errorf("line %d: no commands are right before this output", f.line)
			}
			last := &steps[len(steps)-1]
			last.Output, last.Compared = f.text, true
		}
		before = f
	}
	return steps, nil
}

// The fence must be a step of that language, and the machine must have these programs.
func (f fence) is(language string, programs []string) bool {
	if len(f.info) == 0 || f.info[0] != language {
		return false
	}
	return len(f.info) == 1 || len(f.info) == 2 && slices.Contains(programs, f.info[1])
}

// file is "" for a fence that shows no file.
func (f fence) file() string {
	for _, word := range f.info {
		if name, ok := strings.CutPrefix(word, "file="); ok {
			return name
		}
	}
	return ""
}

// A line of three backquotes ends a fence.
func fencesOf(page string) ([]fence, error) {
	var fences []fence
	var open *fence
	n := 0
	for line := range strings.Lines(page) {
		n++
		marks := strings.HasPrefix(line, "```")
		switch {
		case open == nil && marks:
			open = &fence{line: n, info: strings.Fields(strings.TrimLeft(line, "`"))}
		case open != nil && marks:
			fences = append(fences, *open)
			open = nil
		case open != nil:
			open.text += line
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the fence has no end", open.line)
	}
	return fences, nil
}
