package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/app/imagefile"
	"blik/internal/test/testpic"
	"blik/processing"
)

// conservator is a session with the window whose mask is checked on the disk after each step.
type conservator struct {
	*window
	t             *testing.T
	width, height int
	mask          string
}

// comes starts the program with files in a home folder. If the test fails, there is a screenshot with its name.
func comes(t *testing.T, home string, width, height int, files ...string) *conservator {
	t.Helper()
	c := &conservator{window: openIn(t, home, "en", 1100, 760, files...), t: t, width: width, height: height}
	t.Cleanup(func() {
		if t.Failed() {
			c.screenshot(filepath.Join(os.TempDir(), "blik-"+t.Name()+".png"))
		}
	})
	return c
}

// saved saves the mask and reads it.
func (c *conservator) saved() *processing.Mask {
	c.t.Helper()
	c.key("ctrl+m")
	if line := c.await("saved "); line != "saved "+c.mask {
		c.t.Fatalf("the mask was %s", line)
	}
	m, err := imagefile.ReadMask(context.Background(), c.mask, c.width, c.height, imagefile.DefaultLimits())
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// saveAs saves the mask under a name.
func (c *conservator) saveAs(path string) {
	c.t.Helper()
	c.key("ctrl+m")
	c.await("overlays 1")
	c.key("ctrl+a")
	c.xdo("type", "--delay", "20", strings.TrimSuffix(path, ".png"))
	c.key("Return")
	c.mask = path
	c.await("saved " + path)
}

// check compares pixels of a mask with the expected ones.
func (c *conservator) check(step string, m *processing.Mask, marked, empty []spot) {
	c.t.Helper()
	for _, s := range marked {
		if m.Pix[s.y*c.width+s.x] < processing.MaskLevel {
			c.t.Errorf("%s: (%d, %d) is not marked", step, s.x, s.y)
		}
	}
	for _, s := range empty {
		if m.Pix[s.y*c.width+s.x] != 0 {
			c.t.Errorf("%s: (%d, %d) is marked", step, s.x, s.y)
		}
	}
}

// click clicks a pixel of the picture.
func (c *conservator) click(x, y float64) {
	v := c.view()
	px, py := v.toDevice(x, y)
	c.move(v, px, py)
	c.xdo("click", "1")
}

// secondary drags between two pixels of the picture with the right button.
func (c *conservator) secondary(from, to [2]float64) {
	v := c.view()
	x, y := v.toDevice(from[0], from[1])
	c.move(v, x, y)
	c.xdo("mousedown", "3")
	for _, share := range []float64{0.3, 0.7, 1} {
		x, y := v.toDevice(from[0]+share*(to[0]-from[0]), from[1]+share*(to[1]-from[1]))
		c.move(v, x, y)
	}
	c.xdo("mouseup", "3")
}

// stroke drags through pixels of the picture.
func (c *conservator) stroke(points ...[2]float64) {
	v := c.view()
	for i, p := range points {
		x, y := v.toDevice(p[0], p[1])
		c.reach(v, x, y)
		if i == 0 {
			c.xdo("mousedown", "1")
		}
	}
	c.xdo("mouseup", "1")
}

// TestXvfbSession is a day's work: a region, detection, marking what detection missed, ignoring what is not glare,
// correction and its verification. Then the program is killed and continues where it was.
func TestXvfbSession(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	const width, height = 900, 600
	// The last one is so small that the least sensitivity leaves it out.
	inside := []spot{{120, 110, 3}, {200, 320, 4}, {330, 210, 3}, {250, 260, 0}}
	outside := []spot{{620, 150, 3}, {700, 400, 4}}
	picture := paint(t, width, height, append(slices.Clone(inside), outside...))
	home := t.TempDir()
	c := comes(t, home, width, height, picture)
	c.await("picture ")
	c.awaitView("the whole picture", func(v view) bool { return v.zoom < 1 })

	c.key("r")
	c.stroke([2]float64{40, 40}, [2]float64{200, 200}, [2]float64{450, 560})
	c.key("F5")
	if n := field(t, c.await("done "), 1); n != len(inside) {
		t.Errorf("%d findings in the region, %d painted", n, len(inside))
	}
	c.saveAs(filepath.Join(t.TempDir(), "mask.png"))
	searched := c.saved()
	c.check("searched", searched, inside, outside)

	c.preview(searched, inside, outside)

	c.key("w")
	c.click(float64(outside[0].x), float64(outside[0].y))
	c.check("wand", c.saved(), append(slices.Clone(inside), outside[0]), []spot{outside[1], {620, 175, 0}})

	c.key("q")
	c.stroke([2]float64{560, 250}, [2]float64{610, 250}, [2]float64{660, 250}, [2]float64{660, 300},
		[2]float64{610, 300}, [2]float64{560, 300})
	drawn := spot{610, 275, 0}
	c.check("lasso", c.saved(), []spot{drawn}, []spot{{540, 275, 0}, {610, 320, 0}})

	c.key("b")
	c.stroke([2]float64{100, 550}, [2]float64{150, 550}, [2]float64{200, 550})
	c.check("brush", c.saved(), []spot{{150, 550, 0}, {110, 550, 0}}, []spot{{150, 500, 0}})
	c.goBack(drawn, outside[0])

	// A rectangle marks, an ellipse with the right button removes.
	c.key("d")
	c.stroke([2]float64{500, 540}, [2]float64{520, 550}, [2]float64{540, 570})
	c.check("rectangle", c.saved(), []spot{{520, 555, 0}, drawn}, []spot{{545, 555, 0}})
	c.key("g")
	c.secondary([2]float64{490, 530}, [2]float64{550, 580})
	c.check("taken out", c.saved(), []spot{drawn}, []spot{{520, 555, 0}})
	c.key("ctrl+z")
	c.await("step ")
	c.key("ctrl+z")
	c.await("step ")

	// The finding after the one marked with the wand is ignored: the one drawn later, since findings keep their numbers.
	c.key("n")
	c.awaitView("the finding in the middle", func(v view) bool { return v.zoom >= 1 })
	c.key("j")
	rest := append(slices.Clone(inside), outside[0])
	c.check("ignored", c.saved(), rest, []spot{drawn})

	c.key("Alt_L", "Right", "Right", "Right", "Right", "Right", "Up", "Up", "Return")
	c.await("overlays 1")
	c.key("Escape")
	c.await("overlays 0")

	c.correctAll()
	if n := field(t, c.await("corrected "), 1); n != len(rest) {
		t.Errorf("%d findings corrected, want %d", n, len(rest))
	}
	c.xdo("keydown", "c")
	c.await("compare 1")
	c.xdo("keyup", "c")
	c.await("compare 0")
	c.key("ctrl+s")
	result := strings.TrimPrefix(c.await("saved-picture "), "saved-picture ")
	if n := methods(t, picture, result, len(rest)); len(n) == 0 {
		t.Error("the report does not name a method")
	}

	c.key("ctrl+0", "b")
	c.awaitView("the whole picture", func(v view) bool { return v.zoom < 1 })
	before, steps := c.journals(home), c.count("history ")
	c.stroke([2]float64{100, 500}, [2]float64{150, 500}, [2]float64{200, 500})
	c.until("step of the stroke", func() bool { return c.count("history ") > steps })
	c.until("journal with the stroke", func() bool { return !slices.Equal(c.journals(home), before) })
	c.kill()

	again := comes(t, home, width, height)
	again.await("overlays 1")
	again.key("Return")
	again.await("picture ")
	again.view()
	again.saveAs(filepath.Join(t.TempDir(), "recovered.png"))
	again.check("recovered", again.saved(), append(rest, spot{150, 500, 0}), []spot{drawn, {150, 550, 0}})
	// The restored corrections can be compared with the original.
	again.xdo("keydown", "c")
	again.await("compare 1")
	again.xdo("keyup", "c")
	again.await("compare 0")
	again.kill()
}

// control returns the position and size of a control of the panel once it is visible.
func (c *conservator) control(name string) (x, y, w, h float64) {
	c.t.Helper()
	c.until("control "+name, func() bool {
		lines := c.lines()
		for i := len(lines) - 1; i >= 0; i-- {
			if n, _ := fmt.Sscanf(lines[i], "control "+name+" %f %f %f %f", &x, &y, &w, &h); n == 4 && w > 0 {
				return true
			}
		}
		return false
	})
	return x, y, w, h
}

// press clicks a device pixel of the window.
func (c *conservator) press(x, y float64) {
	c.xdo("mousemove", "--window", c.id, fmt.Sprint(int(x)), fmt.Sprint(int(y)), "click", "1")
}

// preview moves the sensitivity slider to both ends and back. Each time the mask follows without a command, and at the
// end it is the first one again.
func (c *conservator) preview(searched *processing.Mask, inside, outside []spot) {
	c.t.Helper()
	x, y, w, h := c.control("sensitivity")
	areas := map[string]int{}
	for _, end := range []struct {
		name  string
		share float64
	}{{"least", 0.001}, {"most", 0.999}} {
		c.press(x+end.share*w, y+h/2)
		areas[end.name] = field(c.t, c.await("done "), 2)
		if m := c.saved(); m.Area() != areas[end.name] {
			c.t.Errorf("%s sensitivity: %d pixels are marked, %d reported", end.name, m.Area(), areas[end.name])
		}
	}
	if areas["least"] >= areas["most"] {
		c.t.Errorf("%v pixels are found", areas)
	}
	c.key("ctrl+z")
	c.await("step ")
	again := c.saved()
	c.check("taken back", again, inside, outside)
	if !slices.Equal(again.Pix, searched.Pix) {
		c.t.Error("the mask before the preview does not come back")
	}
}

// steps returns the number of steps of the history that are done, and of all.
func (c *conservator) steps() (done, all int) {
	c.t.Helper()
	lines := c.lines()
	for i := len(lines) - 1; i >= 0; i-- {
		if n, _ := fmt.Sscanf(lines[i], "history %d %d", &done, &all); n == 2 {
			return done, all
		}
	}
	c.t.Fatal("the program did not report a history")
	return 0, 0
}

// goBack undoes the brush stroke with a click on the step before it in the history, redoes it with a click on its step,
// and undoes it again.
func (c *conservator) goBack(drawn ...spot) {
	c.t.Helper()
	c.key("y")
	x, y, w, h := c.control("history")
	stroke := spot{150, 550, 0}
	done, all := c.steps()
	if done != all {
		c.t.Fatalf("%d steps of %d are done", done, all)
	}
	for _, step := range []int{done - 1, done, done - 1} {
		c.press(x+w/3, y+(float64(step)+0.5)*h)
		c.await("step ")
		c.until(fmt.Sprintf("history with %d of %d steps done after a click on that step", step, all), func() bool {
			now, _ := c.steps()
			return now == step
		})
		if step == done {
			c.check("forward", c.saved(), append(slices.Clone(drawn), stroke), nil)
		} else {
			c.check("back", c.saved(), drawn, []spot{stroke})
		}
	}
}

// journals returns the journals with the times of their last changes.
func (c *conservator) journals(home string) []string {
	c.t.Helper()
	paths, err := filepath.Glob(filepath.Join(home, "config", "blik", "unsaved", "*.journal"))
	if err != nil {
		c.t.Fatal(err)
	}
	for i, path := range paths {
		if info, err := os.Stat(path); err == nil {
			paths[i] += fmt.Sprint(" ", info.ModTime().UnixNano())
		}
	}
	return paths
}
