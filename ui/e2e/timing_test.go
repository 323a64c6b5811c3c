package e2e

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestXvfbTiming measures in the timing view: detection, whose rows are saved, and an experiment, which closing cancels. The
// window goes on with its own work afterwards.
func TestXvfbTiming(t *testing.T) {
	w := open(t, "en", 1100, 760, paint(t, 300, 200, []spot{{100, 90, 3}, {200, 120, 3}}))
	defer func() {
		if t.Failed() {
			w.screenshot(filepath.Join(os.TempDir(), "blik-timing-test.png"))
		}
	}()
	w.await("picture ")
	// Enter closes the list of keys; while it were open no other key would do anything.
	w.key("F1")
	time.Sleep(300 * time.Millisecond)
	w.key("Return")
	time.Sleep(300 * time.Millisecond)
	w.key("F8")
	w.await("timing")
	id := strings.Fields(w.xdo("search", "--sync", "--onlyvisible", "--name", "Timing and experiments"))[0]
	w.xdo("windowactivate", "--sync", id)
	w.xdo("windowsize", "--sync", id, "1024", "700")
	click := func(x, y int) {
		w.xdo("mousemove", "--window", id, fmt.Sprint(x), fmt.Sprint(y), "sleep", "0.2", "click", "1")
	}
	// The lists of choices open: the pictures, of which the open one is taken, and the repetitions.
	for _, x := range []int{180, 440} {
		click(x, 57)
		time.Sleep(300 * time.Millisecond)
		w.key("Down", "Return")
	}
	w.key("F5")
	w.await("compared ")

	// The button CSV, at the right of the first row.
	time.Sleep(300 * time.Millisecond)
	click(871, 58)
	time.Sleep(500 * time.Millisecond)
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

	// The tab of the experiments, and the last of them.
	click(126, 15)
	time.Sleep(300 * time.Millisecond)
	click(140, 57)
	time.Sleep(300 * time.Millisecond)
	w.key("Down", "Down", "Down", "Down", "Down", "Return")
	time.Sleep(300 * time.Millisecond)
	w.key("F5")
	time.Sleep(500 * time.Millisecond)
	w.key("ctrl+w")
	if line := w.await("experiment "); !strings.HasPrefix(line, "experiment sum ") {
		t.Errorf("cancelled was %q", line)
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
