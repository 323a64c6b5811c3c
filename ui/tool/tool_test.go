package tool_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/app/document"
	"blik/processing"
	"blik/ui/tool"
)

// recorder is a painter that records calls.
type recorder struct{ calls []string }

func (r *recorder) BeginStroke(b document.Brush, at processing.Point) {
	kind := "paint"
	if b.Erase {
		kind = "erase"
	}
	r.calls = append(r.calls, kind+" "+place(at))
}
func (r *recorder) StrokeTo(at processing.Point) { r.calls = append(r.calls, "to "+place(at)) }
func (r *recorder) EndStroke()                   { r.calls = append(r.calls, "end") }
func (r *recorder) CancelStroke()                { r.calls = append(r.calls, "cancel") }

func place(p processing.Point) string {
	return (&processing.Region{Points: []processing.Point{p, {X: p.X + 1, Y: p.Y + 1}}}).String()[len("rect:"):][:3]
}

func at(x, y float64) tool.Event { return tool.Event{At: processing.Point{X: x, Y: y}, Slack: 1} }

func TestBrush(t *testing.T) {
	size := func() document.Brush { return document.Brush{Radius: 4} }
	secondary, shift := at(1, 1), at(5, 5)
	secondary.Secondary, shift.Shift = true, true
	for _, c := range []struct {
		name  string
		erase bool
		do    func(b *tool.Brush)
		want  []string
	}{
		{"stroke", false, func(b *tool.Brush) { b.Press(at(1, 2)); b.Move(at(3, 4)); b.Release() },
			[]string{"paint 1,2", "to 3,4", "end"}},
		{"eraser", true, func(b *tool.Brush) { b.Press(at(1, 2)); b.Release() }, []string{"erase 1,2", "end"}},
		{"right button", false, func(b *tool.Brush) { b.Press(secondary); b.Release() }, []string{"erase 1,1", "end"}},
		{"right button of the eraser", true, func(b *tool.Brush) { b.Press(secondary); b.Cancel() },
			[]string{"paint 1,1", "cancel"}},
		{"line from the last stroke", false,
			func(b *tool.Brush) { b.Press(at(1, 2)); b.Release(); b.Press(shift); b.Release() },
			[]string{"paint 1,2", "end", "paint 1,2", "to 5,5", "end"}},
		{"no line without a last stroke", false, func(b *tool.Brush) { b.Press(shift) }, []string{"paint 5,5"}},
		{"no line into another picture", false,
			func(b *tool.Brush) { b.Press(at(1, 2)); b.Release(); b.Forget(); b.Press(shift) },
			[]string{"paint 1,2", "end", "paint 5,5"}},
	} {
		r := &recorder{}
		c.do(tool.NewBrush(r, c.erase, size))
		if !slices.Equal(r.calls, c.want) {
			t.Errorf("%s: %v, expected %v", c.name, r.calls, c.want)
		}
	}
}

// host holds a region.
type host struct {
	region *processing.Region
	sets   int
}

func (h *host) Region() *processing.Region     { return h.region }
func (h *host) SetRegion(r *processing.Region) { h.region = r; h.sets++ }
func (h *host) DraftChanged()                  {}

func drag(t tool.Tool, x0, y0, x1, y1 float64) {
	t.Press(at(x0, y0))
	t.Move(at((x0+x1)/2, (y0+y1)/2))
	t.Move(at(x1, y1))
	t.Release()
}

func TestRectangle(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(r *tool.Region)
		want string
	}{
		{"new", func(r *tool.Region) { drag(r, 10, 10, 50, 40) }, "rect:10,10,40,30"},
		{"new, drawn upwards", func(r *tool.Region) { drag(r, 50, 40, 10, 10) }, "rect:10,10,40,30"},
		{"on whole pixels", func(r *tool.Region) { drag(r, 10.4, 10.6, 50.2, 40.4) }, "rect:10,11,40,29"},
		{"corner", func(r *tool.Region) { drag(r, 10, 10, 50, 40); drag(r, 50, 40, 60, 60) }, "rect:10,10,50,50"},
		{"side", func(r *tool.Region) { drag(r, 10, 10, 50, 40); drag(r, 10, 25, 5, 99) }, "rect:5,10,45,30"},
		{"corner past the other", func(r *tool.Region) { drag(r, 10, 10, 50, 40); drag(r, 10, 10, 70, 60) },
			"rect:50,40,20,20"},
		{"moved by its inside", func(r *tool.Region) { drag(r, 10, 10, 50, 40); drag(r, 30, 25, 35, 20) },
			"rect:15,5,40,30"},
		{"another beside it", func(r *tool.Region) { drag(r, 10, 10, 50, 40); drag(r, 60, 60, 70, 80) },
			"rect:60,60,10,20"},
		{"click beside it", func(r *tool.Region) { drag(r, 10, 10, 50, 40); r.Press(at(80, 80)); r.Release() },
			"rect:10,10,40,30"},
		{"taken back", func(r *tool.Region) {
			drag(r, 10, 10, 50, 40)
			r.Press(at(30, 30))
			r.Move(at(0, 0))
			r.Cancel()
			r.Release()
		}, "rect:10,10,40,30"},
		{"no height", func(r *tool.Region) { drag(r, 10, 10, 50, 40); drag(r, 60, 60, 70, 60) }, "rect:10,10,40,30"},
	} {
		h := &host{}
		c.do(tool.NewRegion(processing.RectangleShape, h))
		if h.region == nil || h.region.String() != c.want {
			t.Errorf("%s: %v, expected %s", c.name, h.region, c.want)
		}
	}
}

func TestClickIsNoStepOfTheHistory(t *testing.T) {
	h := &host{}
	r := tool.NewRegion(processing.RectangleShape, h)
	drag(r, 10, 10, 50, 40)
	r.Press(at(30, 30))
	r.Release()
	if h.sets != 1 {
		t.Errorf("a click inside the region set the region again")
	}
}

func TestShiftDrawsSquares(t *testing.T) {
	h := &host{}
	r := tool.NewRegion(processing.EllipseShape, h)
	r.Press(at(10, 10))
	e := at(30, 15)
	e.Shift = true
	r.Move(e)
	r.Release()
	if h.region.String() != "ellipse:10,10,20,20" {
		t.Errorf("%s, expected a circle", h.region)
	}
}

func click(r *tool.Region, points ...float64) {
	for i := 0; i < len(points); i += 2 {
		e := at(points[i], points[i+1])
		r.Hover(e)
		r.Press(e)
		r.Release()
	}
}

func TestPolygon(t *testing.T) {
	const triangle = "polygon:10,10,50,10,30,40"
	for _, c := range []struct {
		name string
		do   func(r *tool.Region)
		want string
	}{
		{"closed on its first corner", func(r *tool.Region) { click(r, 10, 10, 50, 10, 30, 40, 10.5, 10) }, triangle},
		{"closed by Enter", func(r *tool.Region) { click(r, 10, 10, 50, 10, 30, 40); r.Hover(at(99, 99)); r.Finish() },
			triangle},
		{"one corner back", func(r *tool.Region) {
			click(r, 10, 10, 50, 10, 80, 80)
			r.Back()
			click(r, 30,
				40)
			r.Finish()
		}, triangle},
		{"two corners are none", func(r *tool.Region) { click(r, 10, 10, 50, 10); r.Finish() }, ""},
		{"all corners back", func(r *tool.Region) { click(r, 10, 10, 50, 10); r.Back(); r.Back(); r.Finish() }, ""},
		{"dropped", func(r *tool.Region) { click(r, 10, 10, 50, 10, 30, 40); r.Abandon(); r.Finish() }, ""},
		{"corner dragged", func(r *tool.Region) {
			click(r, 10, 10, 50, 10, 30, 40)
			r.Finish()
			drag(r, 30, 40, 30,
				60)
		}, "polygon:10,10,50,10,30,60"},
		{"moved", func(r *tool.Region) { click(r, 10, 10, 50, 10, 30, 40); r.Finish(); drag(r, 30, 20, 32, 20) },
			"polygon:12,10,52,10,32,40"},
	} {
		h := &host{}
		r := tool.NewRegion(processing.PolygonShape, h)
		c.do(r)
		got := ""
		if h.region != nil {
			got = h.region.String()
		}
		if got != c.want {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
		}
		if r.Open() {
			t.Errorf("%s: still open", c.name)
		}
	}
}

// A window may lose events; a drag must not survive a release, whatever the order.
func TestRegionSurvivesAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := processing.Shape(rapid.IntRange(0, 2).Draw(t, "shape"))
		h := &host{}
		r := tool.NewRegion(shape, h)
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			e := at(rapid.Float64Range(-5, 50).Draw(t, "x"), rapid.Float64Range(-5, 50).Draw(t, "y"))
			e.Secondary, e.Shift = rapid.Bool().Draw(t, "secondary"), rapid.Bool().Draw(t, "shift")
			switch rapid.IntRange(0, 7).Draw(t, "event") {
			case 0:
				r.Press(e)
			case 1:
				r.Move(e)
			case 2:
				r.Release()
			case 3:
				r.Cancel()
			case 4:
				r.Hover(e)
			case 5:
				r.Finish()
			case 6:
				r.Back()
			case 7:
				r.Pointer(e)
			}
			tool.Outline(r.Current())
			tool.Handles(r.Current())
			if h.region != nil {
				need := map[processing.Shape]int{processing.PolygonShape: 3}[h.region.Shape]
				if len(h.region.Points) < max(2, need) {
					t.Fatalf("a region of %d points", len(h.region.Points))
				}
			}
		}
		r.Finish()
		r.Release()
		if r.Open() || r.Current() != h.region {
			t.Fatal("a draft remains")
		}
	})
}

func TestOutlineOfEllipse(t *testing.T) {
	r := &processing.Region{Shape: processing.EllipseShape, Points: []processing.Point{{X: 10, Y: 20}, {X: 50, Y: 40}}}
	for _, p := range tool.Outline(r) {
		if e := math.Pow((p.X-30)/20, 2) + math.Pow((p.Y-30)/10, 2); math.Abs(e-1) > 1e-9 {
			t.Fatalf("(%g, %g) is not on the ellipse", p.X, p.Y)
		}
	}
}

func TestPicker(t *testing.T) {
	var hits int
	p := &tool.Picker{Toggle: func(processing.Point, float64) { hits++ }}
	p.Press(at(1, 1))
	p.Release()
	e := at(1, 1)
	e.Secondary = true
	p.Press(e)
	if hits != 1 {
		t.Errorf("%d findings toggled by one click with each button", hits)
	}
}
