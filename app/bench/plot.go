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

	"blik/processing/experiment"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot is one picture of a result, its legend below.
type Plot struct {
	// Name is good for a file name.
	Name   string
	plot   *plot.Plot
	legend plot.Legend
}

// measure is what a plot shows of a row; ok is false where the row has none.
type measure struct {
	name, label string
	log         bool
	of          func(row experiment.Row) (y, low, high float64, ok bool)
}

// Plots draws the times of a result, and where it has them the speed-up over its first variant and the errors: one plot
// for each setting of the parameters that are not on the axis, with a line for each variant. Settings with fewer than
// two points on the axis have none.
func Plots(r *experiment.Result, lang string) ([]Plot, error) {
	e := r.Experiment
	axis := e.Axis
	label := say(lang, "samples", "отсчётов")
	for _, p := range e.Params {
		if p.ID == axis {
			label = p.Help.In(lang)
		}
	}
	var rows []experiment.Row
	for _, row := range r.Rows {
		if row.State == experiment.Measured && row.Median > 0 {
			rows = append(rows, row)
		}
	}
	var plots []Plot
	for _, m := range measures(rows, e.Speedup, lang) {
		groups := map[string][]experiment.Row{}
		for _, row := range rows {
			k := group(row, axis)
			groups[k] = append(groups[k], row)
		}
		for _, key := range slices.Sorted(maps.Keys(groups)) {
			p, err := draws(groups[key], axis, m, lang)
			if err != nil {
				return nil, err
			}
			if p == nil {
				continue
			}
			p.Title.Text = e.Name.In(lang)
			if key != "" {
				p.Title.Text += ": " + key
			}
			// A label along a logarithmic axis would take its room from above the plot.
			p.Title.Text += "\n" + m.label
			p.X.Label.Text = label
			name := strings.Join(strings.FieldsFunc(e.ID+"_"+m.name+"_"+key, func(r rune) bool { return strings.ContainsRune(" =,", r) }), "-")
			plots = append(plots, Plot{strings.TrimRight(strings.ReplaceAll(name, "×", "x"), "_"), p, p.Legend})
		}
	}
	return plots, nil
}

// group is the setting of a row less what is on the axis.
func group(row experiment.Row, axis string) string {
	var parts []string
	switch {
	case axis != "":
		parts = append(parts, row.Case.Size.String())
	case row.Case.Size.H > 0 && len(row.Case.Values) > 0:
		parts = append(parts, "2-D")
	}
	for _, id := range slices.Sorted(maps.Keys(row.Case.Values)) {
		if id != axis {
			parts = append(parts, row.Case.Values[id])
		}
	}
	return strings.Join(parts, ", ")
}

func measures(rows []experiment.Row, speedup bool, lang string) []measure {
	list := []measure{{"time", say(lang, "time, ms (median and quartiles)", "время, мс (медиана и квартили)"), true,
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
		key := func(row experiment.Row) string { return row.Case.Size.String() + group(row, "") }
		for _, row := range rows {
			if row.Variant.ID == first {
				base[key(row)] = row.Median
			}
		}
		list = append(list, measure{"speedup", fmt.Sprintf(say(lang, "speed-up over %s", "ускорение против %s"), first), false,
			func(row experiment.Row) (y, low, high float64, ok bool) {
				t, ok := base[key(row)]
				v := float64(t) / float64(row.Median)
				return v, v, v, ok
			}})
	}
	if slices.ContainsFunc(rows, func(row experiment.Row) bool { return row.Check.Error != nil }) {
		list = append(list, measure{"error", say(lang, "relative error", "относительная ошибка"), true,
			func(row experiment.Row) (y, low, high float64, ok bool) {
				if row.Check.Error == nil {
					return 0, 0, 0, false
				}
				// An exact sum is shown at the bottom of a logarithmic axis.
				v := max(*row.Check.Error, 1e-10)
				return v, v, v, true
			}})
	}
	return list
}

// points is a line with error bars.
type points struct {
	plotter.XYs
	plotter.YErrors
}

// draws returns nil where no variant has two points.
func draws(rows []experiment.Row, axis string, m measure, lang string) (*plot.Plot, error) {
	type line struct {
		name   string
		paper  bool
		points points
	}
	var lines []*line
	find := func(name string, paper bool) *line {
		for _, l := range lines {
			if l.name == name {
				return l
			}
		}
		l := &line{name: name, paper: paper}
		lines = append(lines, l)
		return l
	}
	at := func(row experiment.Row) float64 {
		if axis == "" {
			return float64(row.Case.Size.Samples())
		}
		return float64(row.Case.Int(axis))
	}
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b experiment.Row) int { return cmp.Compare(at(a), at(b)) })
	for _, row := range sorted {
		y, low, high, ok := m.of(row)
		if !ok {
			continue
		}
		l := find(row.Variant.Name.In(lang), false)
		l.points.XYs = append(l.points.XYs, plotter.XY{X: at(row), Y: y})
		l.points.YErrors = append(l.points.YErrors, struct{ Low, High float64 }{y - low, high - y})
		if t := paperTime(row); t > 0 && m.name == "time" {
			l := find(say(lang, "paper: ", "статья: ")+row.Variant.Name.In(lang), true)
			l.points.XYs = append(l.points.XYs, plotter.XY{X: at(row), Y: float64(t) / 1e6})
			l.points.YErrors = append(l.points.YErrors, struct{ Low, High float64 }{})
		}
	}
	lines = slices.DeleteFunc(lines, func(l *line) bool { return len(l.points.XYs) < 2 })
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
	p.Legend.Left, p.Legend.Padding = true, vg.Points(2)
	for i, l := range lines {
		drawn, dots, err := plotter.NewLinePoints(l.points)
		if err != nil {
			return nil, fmt.Errorf("plot %s: %w", l.name, err)
		}
		c := palette()[i%len(palette())]
		drawn.Color, dots.Color, dots.Shape = c, c, draw.CircleGlyph{}
		p.Add(drawn, dots)
		if l.paper {
			drawn.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		} else {
			bars, err := plotter.NewYErrorBars(l.points)
			if err != nil {
				return nil, fmt.Errorf("plot %s: %w", l.name, err)
			}
			bars.Color = c
			p.Add(bars)
		}
		p.Legend.Add(l.name, drawn, dots)
	}
	if m.log && p.Y.Max < 2*p.Y.Min {
		p.Y.Min, p.Y.Max = p.Y.Min/2, 2*p.Y.Max
	}
	return p, nil
}

// decades are the ticks of a logarithmic axis, within its ends: powers of ten, and where these are fewer than two also
// their double and fivefold, have labels.
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

// ticks labels the values that were measured, less those that would run into the one before.
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

// palette is that of Okabe and Ito, which people with any colour vision tell apart, without its yellow.
func palette() []color.RGBA {
	return []color.RGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255},
	}
}
