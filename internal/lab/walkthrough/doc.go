// Package walkthrough follows a page of the guide as a reader at a terminal does: it saves the
// files that the page shows, types its commands into one shell, and compares what they print.
//
// These fences of a page are steps, in their order:
//
//	```go file=main.go    the content of a file, which replaces an older one; any language
//	```diff file=main.go  changes of a file: lines to remove, to add, and to find it by
//	```sh                 commands for the shell, which waits until they have ended
//	```text               the output of the commands of the fence before
//
// A blank line separates changes in different places. In an output, … stands for any text, and a
// line of it alone for any number of lines. A fence ```sh skip is for the reader alone, and one
// that is marked with a program, as ```sh kubectl, for machines that have it. All other fences are
// ignored.
package walkthrough
