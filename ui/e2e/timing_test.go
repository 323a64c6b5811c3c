package e2e

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestXvfbTiming measures in the timing view: detection, whose rows are saved, and an experiment, which is cancelled by
// closing the view. The window continues to work afterwards.
func TestXvfbTiming(t *testing.T) {
	t.Parallel()
	w := open(t, "en", 1100, 760, paint(t, 300, 200, []spot{{100, 90, 3}, {200, 120, 3}}))
	defer func() {
		if t.Failed() {
			w.screenshot(filepath.Join(os.TempDir(), "blik-timing-test.png"))
		}
	}()
	w.await("picture ")
	// Enter closes the list of keys; while it is open, no other key does anything.
	w.key("F1")
	w.await("overlays 1")
	w.key("Return")
	w.await("overlays 0")
	w.key("F8")
	w.await("timing")
	id := strings.Fields(w.xdo("search", "--sync", "--onlyvisible", "--name", "Timing and experiments"))[0]
	w.xdo("windowactivate", "--sync", id)
	w.xdo("windowsize", "--sync", id, "1024", "700")
	// Clicks here open a list or a dialog.
	click := func(name string) {
		x, y := w.place(name, 1024, 700)
		w.xdo("mousemove", "--window", id, x, y, "click", "1")
		w.await("overlays 1")
	}
	// The lists of choices open: the pictures, of which the open one is chosen, and the repetitions.
	for _, name := range []string{"picture", "repeat"} {
		click(name)
		w.key("Down", "Return")
		w.await("overlays 0")
	}
	w.key("F5")
	w.await("compared ")

	click("csv")
	path := filepath.Join(t.TempDir(), "out")
	w.key("ctrl+a")
	w.xdo("type", "--delay", "20", path)
	w.key("Return")
	if line := w.await("saved-timing "); line != "saved-timing "+path+".csv" {
		t.Fatalf("saved as %q", line)
	}
	f, err := os.Open(path + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 5 {
		t.Errorf("%d rows, %v", len(rows), err)
	}

	// The page of experiments, and the last one.
	w.key("ctrl+Next")
	w.await("page 1")
	click("experiment")
	w.key("Down", "Down", "Down", "Down", "Down", "Return")
	w.await("overlays 0")
	w.key("F5")
	w.await("busy true")
	w.key("ctrl+w")
	if line := w.await("experiment "); !strings.HasPrefix(line, "experiment sum ") {
		t.Errorf("cancelled: %q", line)
	}

	w.xdo("windowactivate", "--sync", w.id)
	w.key("F5")
	if n := field(t, w.await("done "), 1); n != 2 {
		t.Errorf("found %d glints, painted 2", n)
	}
	w.key("ctrl+z")
	w.await("step ")
	w.quit()
}
