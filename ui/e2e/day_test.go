package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/app/project"
	"blik/app/session"
	"blik/internal/test/testpic"
)

// reviewed and reviewTime are how many findings are reviewed by keys only, and the longest time for that.
const (
	reviewed   = 100
	reviewTime = 2 * time.Minute
)

// TestXvfbDay is a day with six pictures: search the first, review a hundred findings by keys, mark by hand, search
// again, correct, compare, save, be killed, continue, and let a batch do the other five.
func TestXvfbDay(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	const width, height = 900, 600
	var glints []spot
	for i := range reviewed {
		glints = append(glints, spot{60 + i%10*85, 50 + i/10*55, 3})
	}
	folder, home := t.TempDir(), t.TempDir()
	var files []string
	for i := range 6 {
		some := glints
		if i > 0 {
			some = glints[:i]
		}
		path := filepath.Join(folder, fmt.Sprintf("p%d.png", i))
		if err := os.Rename(paint(t, width, height, some), path); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	c := comes(t, home, width, height, files...)
	c.await("picture ")
	c.awaitView("the whole picture", func(v view) bool { return v.zoom < 1.2 })
	c.key("F5")
	if n := field(t, c.await("done "), 1); n != reviewed {
		t.Fatalf("%d findings, %d painted", n, reviewed)
	}

	// Every tenth finding is ignored, the others are kept. Each of them is shown before the next key.
	began := time.Now()
	c.key("n")
	for i := range reviewed {
		views := c.count("view ")
		c.xdo("key", map[bool]string{true: "j", false: "k"}[i%10 == 9])
		if i < reviewed-1 {
			c.until(fmt.Sprintf("finding %d", i+2), func() bool { return c.count("view ") > views })
		}
	}
	took := time.Since(began)
	t.Logf("%d findings reviewed by keys in %s", reviewed, took.Round(time.Millisecond))
	if took > reviewTime {
		t.Errorf("that is more than %s", reviewTime)
	}

	c.key("ctrl+0", "b")
	c.awaitView("the whole picture", func(v view) bool { return v.zoom < 1.2 })
	c.stroke([2]float64{100, 575}, [2]float64{150, 575}, [2]float64{200, 575})
	c.key("F5")
	c.await("done ")
	c.saveAs(filepath.Join(t.TempDir(), "mask.png"))
	c.check("searched again", c.saved(), []spot{{150, 575, 0}, glints[0]}, []spot{glints[9], glints[99]})

	// All are decided, so nothing is asked.
	c.key("F6")
	if n := field(t, c.await("corrected "), 1); n != 91 {
		t.Errorf("%d findings corrected, want 91", n)
	}
	c.xdo("keydown", "c")
	c.await("compare 1")
	c.xdo("keyup", "c")
	c.await("compare 0")
	c.key("ctrl+s")
	c.await("saved-picture ")

	// The journal of what was done before may still be on its way.
	before, steps := c.quietJournals(home), c.count("history ")
	c.stroke([2]float64{400, 575}, [2]float64{450, 575}, [2]float64{500, 575})
	c.until("step of the stroke", func() bool { return c.count("history ") > steps })
	c.until("journal with the stroke", func() bool { return !slices.Equal(c.journals(home), before) })
	c.quietJournals(home)
	c.kill()

	again := comes(t, home, width, height, files...)
	again.await("overlays 1")
	again.key("Return")
	again.until("the restored stroke", func() bool { return again.count("history ") > 0 && again.count("overlays 0") > 0 })
	again.saveAs(filepath.Join(t.TempDir(), "restored.png"))
	again.check("restored", again.saved(), []spot{{450, 575, 0}, {150, 575, 0}}, []spot{glints[9]})

	again.key("ctrl+shift+p")
	again.await("overlays 1")
	again.xdo("type", "--delay", "20", "correct and save all")
	again.key("Return")
	for _, path := range files[1:] {
		result := strings.TrimSuffix(path, ".png") + "_corrected.png"
		again.until(result, func() bool {
			_, err := os.Stat(result)
			return err == nil
		})
	}
	again.kill()
	p, err := project.Read(t.Context(), files[0], session.Limits())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Work.Kept); n != 90 {
		t.Errorf("the project holds %d kept findings, want 90", n)
	}
}

// quietJournals waits until the journals have not changed for a while, and returns them.
func (c *conservator) quietJournals(home string) []string {
	c.t.Helper()
	const quiet = 3 * time.Second
	last, since := c.journals(home), time.Now()
	c.until("a quiet journal", func() bool {
		if now := c.journals(home); !slices.Equal(now, last) {
			last, since = now, time.Now()
		}
		return time.Since(since) > quiet
	})
	return last
}
