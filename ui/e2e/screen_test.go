package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"blik/internal/test/testpic"
	"blik/internal/test/uitest"
)

// needed are the programs for a virtual screen and their Debian packages.
var needed = map[string]string{
	"Xvfb": "xvfb", "openbox": "openbox", "xdotool": "xdotool", "setxkbmap": "x11-xkb-utils",
}

// windowRules configures the window manager without actions of the mouse. With them it holds back each press of a button
// until it has handled it, and on a busy machine the keys that follow reach the program first.
const windowRules = `<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc"><focus><focusNew>yes</focusNew></focus><mouse/></openbox_config>
`

// patience is the longest time that the window may take for anything.
const patience = 2 * time.Minute

// window is the program on a virtual screen of its own.
type window struct {
	t   testing.TB
	env []string
	id  string
	// screen is the folder of the file that holds the pixels of the screen.
	screen string
	log    string
	read   int
	stderr *lockedBuffer
	child  *exec.Cmd
	ended  chan error
	// begun is the start of the program, shown that of its window.
	begun, shown time.Time
}

// lockedBuffer collects the output of a process while a test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// open starts a screen, a window manager and the program with the given files, at the given size. The program is this
// test binary, or the one that BLIK_BINARY names.
func open(t testing.TB, lang string, width, height int, files ...string) *window {
	t.Helper()
	return openIn(t, t.TempDir(), lang, width, height, files...)
}

// openIn is open with a given home folder.
func openIn(t testing.TB, home, lang string, width, height int, files ...string) *window {
	t.Helper()
	for program, pkg := range needed {
		_, err := exec.LookPath(program)
		testpic.Require(t, err == nil, testpic.RequireXvfb, fmt.Sprintf("%s (Debian package %s)", program, pkg))
	}
	w := &window{t: t, log: filepath.Join(t.TempDir(), "ui.log"), stderr: &lockedBuffer{}, ended: make(chan error, 1)}
	w.screen = t.TempDir()
	display := uitest.StartScreen(t, w.screen)
	w.env = append(os.Environ(),
		"DISPLAY="+display, "WAYLAND_DISPLAY=", "HOME="+home, "LANG=en_US.UTF-8", "LC_ALL=",
		"XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_CACHE_HOME="+filepath.Join(home, "cache"),
		"BLIK_DIALOGS=fyne", "BLIK_UI_LOG="+w.log, childVariable+"="+lang)
	rules := filepath.Join(t.TempDir(), "openbox.xml")
	if err := os.WriteFile(rules, []byte(windowRules), 0o600); err != nil {
		t.Fatal(err)
	}
	background(t, w.env, "openbox", "--config-file", rules)

	w.child = exec.Command(os.Args[0], files...)
	if binary := os.Getenv("BLIK_BINARY"); binary != "" && lang != bareWindow && os.Getenv(heldVariable) == "" {
		// A result that go test keeps is that of this binary.
		if _, err := os.Stat(binary); err != nil {
			t.Fatal(err)
		}
		w.child = exec.Command(binary, append([]string{"open", "--lang", lang}, files...)...)
	}
	w.child.Env, w.child.Stderr = w.env, w.stderr
	w.begun = time.Now()
	if err := w.child.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { w.ended <- w.child.Wait() }()
	t.Cleanup(func() {
		if w.child.ProcessState == nil {
			w.child.Process.Kill()
		}
	})

	w.await("view ")
	w.shown = time.Now()
	w.id = strings.Fields(w.xdo("search", "--sync", "--onlyvisible", "--name", "Blik"))[0]
	// A window that has just appeared may still change to its initial size. A filmstrip takes some of its height.
	for start := time.Now(); ; {
		w.xdo("windowsize", w.id, strconv.Itoa(width), strconv.Itoa(height))
		if v := w.view(); v.left+v.width < float64(width) && v.left+v.width > float64(width)-450 &&
			v.top+v.height > float64(height)-200 && v.top+v.height < float64(height) {
			break
		}
		if time.Since(start) > patience {
			t.Fatalf("the window did not reach %d × %d: %v", width, height, w.lines())
		}
	}
	w.xdo("windowfocus", "--sync", w.id)
	return w
}

// kill ends the program at once.
func (w *window) kill() {
	w.t.Helper()
	if err := w.child.Process.Kill(); err != nil {
		w.t.Fatal(err)
	}
	<-w.ended
}

// background starts a program that runs until the end of the test.
func background(t testing.TB, env []string, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = env
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
}

// xdo runs xdotool and returns its output.
func (w *window) xdo(args ...string) string {
	w.t.Helper()
	c := exec.Command("xdotool", args...)
	c.Env = w.env
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		w.t.Fatalf("xdotool %v: %v\n%s\nthe program said:\n%s", args, err, stderr.String(), w.stderr)
	}
	return string(out)
}

// key presses keys, one after another.
func (w *window) key(keys ...string) { w.xdo(append([]string{"key", "--delay", "60"}, keys...)...) }

// correctAll corrects all findings, also those that should be looked at first.
func (w *window) correctAll() {
	w.t.Helper()
	w.key("F6")
	w.await("overlays 1")
	w.key("Tab", "Tab", "space")
}

// move puts the pointer on a device pixel of the viewport.
func (w *window) move(v view, x, y float64) {
	w.xdo("mousemove", "--window", w.id, fmt.Sprint(int(v.left+x)), fmt.Sprint(int(v.top+y)))
}

// reach puts the pointer on a device pixel of the viewport and waits until the program has seen it there.
func (w *window) reach(v view, x, y float64) {
	w.t.Helper()
	w.move(v, x, y)
	wantX, wantY := v.toImage(x, y)
	w.until(fmt.Sprintf("pointer at %.1f, %.1f", wantX, wantY), func() bool {
		lines := w.lines()
		for i := len(lines) - 1; i >= 0; i-- {
			var atX, atY float64
			if n, _ := fmt.Sscanf(lines[i], "pointer %f %f", &atX, &atY); n == 2 {
				return math.Hypot(atX-wantX, atY-wantY) < 3/v.zoom
			}
		}
		return false
	})
}

// drag moves the pointer between two device pixels of the viewport with a button held.
func (w *window) drag(v view, button string, x0, y0, x1, y1 float64) {
	w.move(v, x0, y0)
	w.xdo("mousedown", button)
	const steps = 8
	for i := 1; i <= steps; i++ {
		s := float64(i) / steps
		w.move(v, x0+(x1-x0)*s, y0+(y1-y0)*s)
	}
	w.xdo("mouseup", button)
}

// await returns the next line of the program's log that begins with prefix.
func (w *window) await(prefix string) (line string) {
	w.t.Helper()
	w.until(fmt.Sprintf("event %q", prefix), func() bool {
		for lines := w.lines(); w.read < len(lines); {
			line = lines[w.read]
			w.read++
			if strings.HasPrefix(line, prefix) {
				return true
			}
		}
		return false
	})
	return line
}

// until waits for a state of the program or its files.
func (w *window) until(what string, reached func() bool) {
	w.t.Helper()
	for start := time.Now(); !reached(); time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > patience {
			w.t.Fatalf("no %s after %v; the last events: %q; the program said:\n%s", what, patience, w.last(12), w.stderr)
		}
		select {
		case err := <-w.ended:
			w.t.Fatalf("the program ended (%v) before: %s; it said:\n%s", err, what, w.stderr)
		default:
		}
	}
}

// last returns the last n lines of the log.
func (w *window) last(n int) []string {
	lines := w.lines()
	return lines[max(0, len(lines)-n):]
}

// count returns the number of lines of the log that begin with prefix.
func (w *window) count(prefix string) int {
	n := 0
	for _, line := range w.lines() {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// place waits until the timing view has the given size and returns the centre of one of its controls.
func (w *window) place(name string, width, height int) (x, y string) {
	w.t.Helper()
	w.until(fmt.Sprintf("place of %s in a view of %d × %d", name, width, height), func() bool {
		lines := w.lines()
		for i := len(lines) - 1; i >= 0; i-- {
			// at NAME X Y W H
			f := strings.Fields(lines[i])
			if len(f) == 6 && f[0] == "at" && f[1] == name {
				x, y = f[2], f[3]
				return f[4] == strconv.Itoa(width) && f[5] == strconv.Itoa(height)
			}
		}
		return false
	})
	return x, y
}

// lines returns the log's complete lines.
func (w *window) lines() []string {
	data, err := os.ReadFile(w.log)
	if err != nil {
		return nil
	}
	lines := strings.SplitAfter(string(data), "\n")
	lines = lines[:len(lines)-1]
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\n")
	}
	return lines
}

// view is the position of the viewport, in device pixels of the window, and its transform.
type view struct {
	left, top, width, height float64
	zoom, x, y               float64
}

// toImage returns the image point under a device pixel of the viewport.
func (v view) toImage(x, y float64) (float64, float64) { return v.x + x/v.zoom, v.y + y/v.zoom }

// toDevice is the inverse of toImage.
func (v view) toDevice(x, y float64) (float64, float64) {
	return (x - v.x) * v.zoom, (y - v.y) * v.zoom
}

// view waits until the view stops changing and returns it.
func (w *window) view() view {
	w.t.Helper()
	last := ""
	for start, rest := time.Now(), time.Now(); time.Since(rest) < 400*time.Millisecond &&
		time.Since(start) < patience; time.Sleep(50 * time.Millisecond) {
		lines := w.lines()
		for i := len(lines) - 1; i >= 0; i-- {
			if strings.HasPrefix(lines[i], "view ") {
				if lines[i] != last {
					last, rest = lines[i], time.Now()
				}
				break
			}
		}
	}
	var v view
	var scale float64
	if _, err := fmt.Sscanf(last, "view %f %f %f %f %f %f %f %f", &v.left, &v.top, &v.width, &v.height, &scale,
		&v.zoom, &v.x, &v.y); err != nil {
		w.t.Fatalf("%q: %v", last, err)
	}
	return v
}

// awaitView waits until the view is as expected and returns it.
func (w *window) awaitView(what string, expected func(view) bool) view {
	w.t.Helper()
	var v view
	for start := time.Now(); time.Since(start) < patience; {
		if v = w.view(); expected(v) {
			return v
		}
	}
	w.t.Fatalf("%s does not come into view: %+v", what, v)
	return v
}

// quit quits with the menu's shortcut and checks that the program ends normally without errors.
func (w *window) quit() {
	w.t.Helper()
	w.key("ctrl+q")
	select {
	case err := <-w.ended:
		if err != nil {
			w.t.Errorf("the program ended with %v", err)
		}
	case <-time.After(patience):
		// The runtime then prints the stack of every goroutine.
		_ = w.child.Process.Signal(syscall.SIGABRT)
		<-w.ended
		w.t.Fatalf("the program did not end; it said:\n%s", w.stderr)
	}
	if said := w.stderr.String(); strings.Contains(said, "Error in Fyne call thread") ||
		strings.Contains(said, "panic") {
		w.t.Errorf("the program said:\n%s", said)
	}
}

// screenshot saves an image of the screen, for investigating a failure, if ImageMagick is installed.
func (w *window) screenshot(path string) {
	c := exec.Command("import", "-window", "root", path)
	c.Env, c.Stderr = w.env, io.Discard
	if err := c.Run(); err == nil {
		w.t.Logf("screenshot: %s", path)
	}
}
