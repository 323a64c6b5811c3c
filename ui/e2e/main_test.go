package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"blik/lab/timing"
	"blik/ui"
)

// childVariable makes this test binary the program's window: its value is the initial language, the arguments are the
// files to open.
const childVariable = "BLIK_E2E_CHILD"

func TestMain(m *testing.M) {
	lang, child := os.LookupEnv(childVariable)
	if !child {
		os.Exit(m.Run())
	}
	if lang == bareWindow {
		if err := runBare(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	o := ui.Options{Files: os.Args[1:], Lang: lang, Version: "test", Timing: timing.Open}
	if path := os.Getenv(heldVariable); path != "" {
		held, err := newHeld(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		o.Watch = held.watch
	}
	if err := ui.Run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
