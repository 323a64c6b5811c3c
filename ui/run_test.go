//go:build linux

package ui

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"
)

// A display that is named but does not answer gives an error of one sentence, not a panic of the toolkit.
func TestDisplayWithoutServer(t *testing.T) {
	t.Setenv("WAYLAND_DISPLAY", "")
	for _, display := range []string{"", ":59977", ":59977.0"} {
		t.Setenv("DISPLAY", display)
		if err := Run(context.Background(), Options{}); err == nil || !strings.Contains(err.Error(), "blik detect") {
			t.Errorf("DISPLAY=%q: %v", display, err)
		}
	}
}

func TestWritable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := writable(dir); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
	before := log.Writer()
	defer log.SetOutput(before)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writable(filepath.Join(file, "c")); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a folder inside a file: %v", err)
	}
}

// Nothing is left for the toolkit to run when it stops.
func TestNoStopHook(t *testing.T) {
	a := test.NewTempApp(t)
	l := a.Lifecycle().(interface {
		SetOnStoppedHookExecuted(hook func())
		OnStopped() func()
	})
	l.SetOnStoppedHookExecuted(func() {})
	dropStopHook(a)
	if l.OnStopped() != nil {
		t.Error("a hook is left")
	}
}
