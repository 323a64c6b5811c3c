// Blik finds glare on digital reproductions of paintings.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"blik/app/cli"
	"blik/app/crash"
)

// version is set by the linker.
var version = "dev"

// extensions are the commands of the laboratory, unless the build leaves it out (nolab).
var extensions []cli.Extension

func main() { os.Exit(start()) }

// start runs the program and returns its exit status. A panic on the main goroutine is reported in one sentence. A
// panic on any other goroutine ends the program; the next start finds it in the crash log.
func start() (status int) {
	guard, err := crash.Start()
	if err != nil {
		guard = nil // no place for a log; the program does without
	}
	defer guard.Close()
	defer func() {
		if r := recover(); r != nil {
			text := fmt.Sprintf("blik: internal error: %v", r)
			if log := guard.Record(r, debug.Stack()); log != "" {
				text += "; details in " + log
			}
			fmt.Fprintln(os.Stderr, text)
			status = 1
		}
	}()
	return cli.Main(os.Args[1:], cli.Options{
		Version:    version,
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		Window:     window(guard),
		Renderer:   renderer(),
		Recovered:  guard.Record,
		Crashes:    crash.Unreported,
		Extensions: extensions,
	})
}
