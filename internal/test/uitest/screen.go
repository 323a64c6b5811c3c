package uitest

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"blik/internal/test/testpic"
)

// choosing is held while an X server looks for a free display.
var choosing sync.Mutex

// StartScreen starts an X server on a free display, with its pixels in a file in a folder, and returns the display's
// name. The test is skipped without Xvfb.
func StartScreen(t testing.TB, folder string) string {
	t.Helper()
	_, err := exec.LookPath("Xvfb")
	testpic.Require(t, err == nil, testpic.RequireXvfb, "Xvfb (Debian package xvfb)")
	choosing.Lock()
	defer choosing.Unlock()
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1920x1200x24", "+extension", "GLX", "-nolisten",
		"tcp", "-fbdir", folder)
	x.ExtraFiles = []*os.File{pipe}
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		x.Process.Kill()
		x.Wait()
	})
	pipe.Close()
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not report its display: %v", err)
	}
	return ":" + strings.TrimSpace(number)
}
