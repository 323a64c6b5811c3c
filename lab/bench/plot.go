package bench

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"blik/app/i18n"
	"blik/lab/experiment"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot is a plot of a result, with the legend below it.
type Plot struct {
	// Name can be used as a file name.
	Name   string
	plot   *plot.Plot
	legend plot.Legend
}

// measure is a quantity to plot. of returns its value for a row, with error bars from low to high; ok is false if the
// row has none.
type measure struct {
	name, label string
	log         bool
	of          func(row experiment.Row) (y, low, high float64, ok bool)
}

// Plots plots the times of a result and, if it has them, the speed-up over its first variant and the errors. The x axis
// is the axis of the experiment and, in further plots, each other numeric parameter. There is one plot for each setting
// of the remaining parameters, with a line for each variant. Settings with fewer than two points have no plot.
func Plots(r *experiment.Result, tr *i18n.Printer) ([]Plot, error) {
	e := r.Experiment
	var rows []experiment.Row
	for _, row := range r.Rows {
		if row.State == experiment.Measured && row.Median > 0 {
			rows = append(rows, row)
		}
	}
	type along struct{ id, label, name string }
	axes := []along{{e.Axis, tr.Sprintf("samples"), ""}}
	for _, p := range e.Params {
		switch {
		case p.ID == e.Axis:
			axes[0].label = tr.Sprint(p.Help)
		case p.Number != nil:
			axes = append(axes, along{p.ID, tr.Sprint(p.Help), "_" + p.ID})
		}
	}
	var plots []Plot
	for _, m := range measures(rows, e.Speedup, tr) {
		for _, axis := range axes {
			for _, g := range groups(rows, e, axis.id) {
				p, err := draws(g.rows, axis.id, m, tr)
				if err != nil {
					return nil, err
				}
				if p == nil {
					continue
				}
				key := g.String()
				p.Title.Text = tr.Sprint(e.Name)
				if key != "" {
					p.Title.Text += ": " + key
				}
				// The measure stands in the title, because a label along a logarithmic axis would take space above the
				// plot.
				p.Title.Text += "\n" + m.label
				p.X.Label.Text = axis.label
				name := strings.Join(strings.FieldsFunc(e.ID+"_"+m.name+axis.name+"_"+key,
					func(r rune) bool { return strings.ContainsRune(" =,^", r) }), "-")
				plots = append(plots, Plot{strings.TrimRight(strings.ReplaceAll(name, "×", "x"), "_"), p, p.Legend})
			}
		}
	}
	return plots, nil
}

// setting holds what the rows of a plot have in common.
type setting struct {
	// size is the size of the rows if it is not on the axis. Otherwise it is "2-D" for pictures if other rows are 1-D.
	size string
	// values holds the parameters that are not on the axis.
	values map[string]string
}

// String returns the setting for a title.
func (s setting) String() string {
	var parts []string
	if s.size != "" {
		parts = append(parts, s.size)
	}
	for _, id := range slices.Sorted(maps.Keys(s.values)) {
		parts = append(parts, s.values[id])
	}
	return strings.Join(parts, ", ")
}

// covers reports whether rows with setting t also belong to the plot of s: t may lack some of the parameters of s.
func (s setting) covers(t setting) bool {
	for id, v := range t.values {
		if s.values[id] != v {
			return false
		}
	}
	return s.size == t.size
}

// group holds the rows of a plot.
type group struct {
	setting
	rows []experiment.Row
}

// groups returns the rows of each plot, sorted by the name of the setting. Variants that do not depend on a parameter
// are in the plots of all its values. Settings in which no variant has two points have no plot.
func groups(rows []experiment.Row, e *experiment.Experiment, axis string) []group {
	has := func(pictures bool) bool {
		return slices.ContainsFunc(rows, func(row experiment.Row) bool { return (row.Case.Size.H > 0) == pictures })
	}
	mixed := has(true) && has(false)
	var (
		measured []experiment.Row
		of       []setting
		points   = map[string]map[string]map[float64]bool{}
		plotted  = map[string]setting{}
	)
	for _, row := range rows {
		if _, ok := row.Case.Values[axis]; axis != "" && !ok {
			continue
		}
		s := setting{values: map[string]string{}}
		switch {
		case axis != "":
			s.size = row.Case.Size.String()
		case mixed && row.Case.Size.H > 0:
			s.size = "2-D"
		}
		for _, p := range e.Params {
			if v, ok := row.Case.Values[p.ID]; ok && p.ID != axis {
				if p.Number != nil {
					v = p.ID + " " + v
				}
				s.values[p.ID] = v
			}
		}
		measured, of = append(measured, row), append(of, s)
		key, id := s.String(), row.Variant.ID
		if points[key] == nil {
			points[key] = map[string]map[float64]bool{}
		}
		if points[key][id] == nil {
			points[key][id] = map[float64]bool{}
		}
		if points[key][id][place(row, axis)] = true; len(points[key][id]) > 1 {
			plotted[key] = s
		}
	}
	var list []group
	for _, key := range slices.Sorted(maps.Keys(plotted)) {
		g := group{setting: plotted[key]}
		covered := false
		for other, s := range plotted {
			covered = covered || other != key && s.covers(g.setting)
		}
		if covered {
			continue
		}
		for i, row := range measured {
			if g.covers(of[i]) {
				g.rows = append(g.rows, row)
			}
		}
		list = append(list, g)
	}
	return list
}

// place returns the position of a row on an axis.
func place(row experiment.Row, axis string) float64 {
	if axis == "" {
		return float64(row.Case.Size.Samples())
	}
	return float64(row.Case.Int(axis))
}

func measures(rows []experiment.Row, speedup bool, tr *i18n.Printer) []measure {
	list := []measure{{"time", tr.Sprintf("time, ms (median and quartiles)"), true,
		func(row experiment.Row) (y, low, high float64, ok bool) {
			ms := func(d time.Duration) float64 { return max(float64(d)/1e6, 1e-6) }
			return ms(row.Median), ms(row.Q1), ms(row.Q3), true
		}}}
	if len(rows) == 0 {
		return list
	}
	if speedup {
		first := rows[0].Variant.ID
		base := map[string]time.Duration{}
		key := func(row experiment.Row) string { return fmt.Sprint(row.Case) }
		for _, row := range rows {
			if row.Variant.ID == first {
				base[key(row)] = row.Median
			}
		}
		list = append(list, measure{"speedup", tr.Sprintf("speed-up over %s", first), true,
			func(row experiment.Row) (y, low, high float64, ok bool) {
				t, ok := base[key(row)]
				v := float64(t) / float64(row.Median)
				return v, v, v, ok
			}})
	}
	if slices.ContainsFunc(rows, func(row experiment.Row) bool { return row.Check.Error != nil }) {
		list = append(list, measure{"error", tr.Sprintf("relative error"), true,
			func(row experiment.Row) (y, low, high float64, ok bool) {
				if row.Check.Error == nil {
					return 0, 0, 0, false
				}
				// An error of 0 cannot be shown on a logarithmic axis.
				v := max(*row.Check.Error, 1e-10)
				return v, v, v, true
			}})
	}
	return list
}

// points are points with error bars.
type points struct {
	plotter.XYs
	plotter.YErrors
}

// line is the line of a variant in a plot, or that of the paper's figures for it, in the same colour.
type line struct {
	variant string
	device  experiment.Device
	name    string
	paper   bool
	colour  color.Color
	points  points
}

func (l *line) add(x, y, below, above float64) {
	l.points.XYs = append(l.points.XYs, plotter.XY{X: x, Y: y})
	l.points.YErrors = append(l.points.YErrors, struct{ Low, High float64 }{below, above})
}

// linesOf returns the lines of at least two points for sorted rows, in the order of their first points.
func linesOf(sorted []experiment.Row, at func(experiment.Row) float64, m measure, tr *i18n.Printer) []*line {
	var lines []*line
	colours := map[string]color.Color{}
	find := func(v experiment.Variant, paper bool) *line {
		for _, l := range lines {
			if l.variant == v.ID && l.paper == paper {
				return l
			}
		}
		if !paper {
			colours[v.ID] = palette()[len(colours)%len(palette())]
		}
		l := &line{variant: v.ID, device: v.Device, name: tr.Sprint(v.Name), paper: paper, colour: colours[v.ID]}
		lines = append(lines, l)
		return l
	}
	for _, row := range sorted {
		y, low, high, ok := m.of(row)
		if !ok {
			continue
		}
		find(row.Variant, false).add(at(row), y, y-low, high-y)
		if t := paperTime(row); t > 0 && m.name == "time" {
			find(row.Variant, true).add(at(row), float64(t)/1e6, 0, 0)
		}
	}
	return slices.DeleteFunc(lines, func(l *line) bool { return len(l.points.XYs) < 2 })
}

// draws returns the plot of rows, or nil if no variant has two points.
func draws(rows []experiment.Row, axis string, m measure, tr *i18n.Printer) (*plot.Plot, error) {
	at := func(row experiment.Row) float64 { return place(row, axis) }
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b experiment.Row) int { return cmp.Compare(at(a), at(b)) })
	lines := linesOf(sorted, at, m, tr)
	if !slices.ContainsFunc(lines, func(l *line) bool { return !l.paper }) {
		return nil, nil
	}

	p := plot.New()
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks(sorted, axis, at)
	if m.log {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{}
	} else {
		p.Y.Min = 0
	}
	p.Add(plotter.NewGrid())
	p.BackgroundColor = color.White
	p.Title.TextStyle.Font.Size, p.Title.Padding = vg.Points(11), vg.Points(6)
	p.Legend.Left, p.Legend.Padding = true, vg.Points(1)
	p.Legend.TextStyle.Font.Size = vg.Points(9)
	var paper *plotter.Line
	for _, l := range lines {
		drawn, dots, err := plotter.NewLinePoints(l.points)
		if err != nil {
			return nil, fmt.Errorf("plot %s: %w", l.name, err)
		}
		drawn.Color, dots.Color, dots.Shape = l.colour, l.colour, glyph(l.device, l.paper)
		p.Add(drawn, dots)
		if l.paper {
			drawn.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
			paper = drawn
			continue
		}
		bars, err := plotter.NewYErrorBars(l.points)
		if err != nil {
			return nil, fmt.Errorf("plot %s: %w", l.name, err)
		}
		bars.Color = l.colour
		p.Add(bars)
		p.Legend.Add(l.name, drawn, dots)
	}
	// One entry for all lines of the paper keeps the legend small.
	if paper != nil {
		dashes := *paper
		dashes.Color = color.Black
		p.Legend.Add(tr.Sprintf("the paper's figures, in the colours of their variants"), &dashes)
	}
	if m.log && p.Y.Max < 2*p.Y.Min {
		p.Y.Min, p.Y.Max = p.Y.Min/2, 2*p.Y.Max
	}
	return p, nil
}

// glyph returns a circle for a CPU and a square for a GPU, hollow for the paper's figures.
func glyph(d experiment.Device, paper bool) draw.GlyphDrawer {
	switch {
	case d == experiment.GPU && paper:
		return draw.SquareGlyph{}
	case d == experiment.GPU:
		return draw.BoxGlyph{}
	case paper:
		return draw.RingGlyph{}
	}
	return draw.CircleGlyph{}
}

// decades are the ticks of a logarithmic axis. Powers of ten have labels; if the axis contains fewer than two of them,
// so do their multiples by 2 and 5.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(low, high float64) []plot.Tick {
	var list []plot.Tick
	first, last := int(math.Floor(math.Log10(low))), int(math.Floor(math.Log10(high)))
	few := last-int(math.Ceil(math.Log10(low))) < 1
	for e := first; e <= last; e++ {
		for n := 1; n <= 9; n++ {
			v := float64(n) * math.Pow10(e)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if n == 1 || few && (n == 2 || n == 5) {
				t.Label = fmt.Sprintf("%.0e", v)
				if e >= -3 && e <= 5 {
					t.Label = fmt.Sprintf("%.*f", max(-e, 0), v)
				}
			}
			list = append(list, t)
		}
	}
	return list
}

// ticks labels the measured values, except those whose labels would overlap the previous one.
func ticks(sorted []experiment.Row, axis string, at func(experiment.Row) float64) plot.ConstantTicks {
	var list plot.ConstantTicks
	whole := math.Log(at(sorted[len(sorted)-1]) / at(sorted[0]))
	last := math.Inf(-1)
	for _, row := range sorted {
		v := at(row)
		label := row.Case.Values[axis]
		if axis == "" {
			label = row.Case.Size.String()
		}
		if math.Log(v)-last < whole*0.018*float64(len(label)) {
			continue
		}
		list, last = append(list, plot.Tick{Value: v, Label: label}), math.Log(v)
	}
	return list
}

// palette is that of Okabe and Ito (2008), which people with any colour vision can distinguish, with grey instead of
// yellow.
func palette() []color.RGBA {
	return []color.RGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255},
		{86, 180, 233, 255}, {0, 0, 0, 255}, {140, 140, 140, 255},
	}
}
