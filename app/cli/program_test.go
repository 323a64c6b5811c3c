package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"blik/app/farm"
)

// asProgram, set in the environment of a process of this test, makes it the program, with these arguments.
const asProgram = "BLIK_TEST_ARGUMENTS"

// programTest has a process of this test run TestProgram only.
const programTest = "-test.run=^TestProgram$"

// asProgramWith is the variable that makes it the program with these arguments.
func asProgramWith(args []string) string {
	text, err := json.Marshal(args)
	if err != nil {
		return asProgram // no list of texts fails to be written
	}
	return asProgram + "=" + string(text)
}

// TestProgram is the program when another test has started it as such.
func TestProgram(t *testing.T) {
	text := os.Getenv(asProgram)
	if text == "" {
		t.Log("started by other tests")
		return
	}
	var args []string
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		t.Fatal(err)
	}
	child := asChild
	if os.Getenv(dying) != "" && runtime.GOOS != "windows" {
		child = asDyingChild
	}
	os.Exit(Main(args, Options{
		Version: "test", Stdin: poisoned(t), Stdout: os.Stdout, Stderr: os.Stderr, childArguments: child,
	}))
}

// poison is the name of the file whose process kills itself.
const poison = "poison.png"

// poisoned returns the standard input. A process that is to process the poison kills itself.
func poisoned(t *testing.T) io.Reader {
	if !strings.Contains(os.Getenv(asProgram), `"task"`) {
		return os.Stdin
	}
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte(poison)) {
		fmt.Fprintln(os.Stderr, "the last words")
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		select {}
	}
	return bytes.NewReader(data)
}

// dying, set in the environment of a process of this test, is a folder of files. The process that is to work on a picture
// removes one of them and ends at once.
const dying = "BLIK_TEST_DYING"

// asDyingChild makes a shell process a file, or die.
func asDyingChild(path string, args []string) farm.Process {
	p := asChild(path, args)
	script := `exec 0<&-; for f in "$` + dying + `"/*; do rm "$f" 2>/dev/null && kill -9 $$; done`
	return farm.Process{
		Program: "/bin/sh", Environment: p.Environment,
		Arguments: []string{"-c", `for f in "$` + dying + `"/*; do test -e "$f" && { ` + script + `; }; done; exec "$0" "$@"`,
			p.Program, programTest},
	}
}

// start runs the program in its own process.
func start(t *testing.T, out io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0], programTest)
	child.Env = append(os.Environ(), asProgramWith(args))
	child.Stdout, child.Stderr = out, out
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	return child
}
