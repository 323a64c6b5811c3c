package bench

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"time"

	"blik/app/i18n"
	"blik/internal/message"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plots plots the times of the stages on all devices, warm and cold, and the share of the copy limit that they reached.
// It returns none if nothing was measured.
func (c *Comparison) Plots(tr *i18n.Printer) ([]Plot, error) {
	names := slices.DeleteFunc(c.Names(), func(name message.Message) bool {
		return !slices.ContainsFunc(c.measured(), func(m *Measurement) bool {
			s := m.Row(name)
			return s.Warm.Median > 0 || s.Cold > 0
		})
	})
	if len(names) == 0 {
		return nil, nil
	}
	times, err := c.plotTimes(names, tr)
	if err != nil {
		return nil, err
	}
	plots := []Plot{{"detect_time", times, times.Legend}}
	limited := slices.DeleteFunc(slices.Clone(names), func(name message.Message) bool {
		return !slices.ContainsFunc(c.measured(), func(m *Measurement) bool { return m.Row(name).Share() > 0 })
	})
	if len(limited) > 0 {
		shares, err := c.plotShares(limited, tr)
		if err != nil {
			return nil, err
		}
		plots = append(plots, Plot{"detect_share", shares, shares.Legend})
	}
	return plots, nil
}

// rowPlot returns an empty plot with a row for each name, the first at the top.
func rowPlot(names []message.Message, title string, tr *i18n.Printer) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text, p.Title.TextStyle.Font.Size, p.Title.Padding = title, vg.Points(11), vg.Points(6)
	p.Legend.Left, p.Legend.Padding, p.Legend.TextStyle.Font.Size = true, vg.Points(1), vg.Points(9)
	var labels plot.ConstantTicks
	for i, name := range names {
		labels = append(labels, plot.Tick{Value: at(i, names), Label: tr.Sprint(name)})
	}
	p.Y.Tick.Marker, p.Y.Tick.Length = labels, 0
	// Without this the longest label would start outside the plot.
	p.Y.Label.Text = " "
	p.Y.Min, p.Y.Max = 0.4, float64(len(names))+0.6
	return p
}

func at(i int, names []message.Message) float64 { return float64(len(names) - i) }

// across holds points with error bars along x.
type across struct {
	plotter.XYs
	plotter.XErrors
}

// plotTimes plots a filled dot at the warm median, with bars to the quartiles, and a ring at the time of the first
// detection.
func (c *Comparison) plotTimes(names []message.Message, tr *i18n.Printer) (*plot.Plot, error) {
	p := rowPlot(names, tr.Sprintf("Detection, %.1f MP, %d bits: time, ms", float64(c.Width*c.Height)/1e6, c.Depth), tr)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades{}
	p.Add(plotter.NewGrid())
	ms := func(d time.Duration) float64 { return max(float64(d)/1e6, 1e-4) }
	for k, m := range c.measured() {
		colour := palette()[k%len(palette())]
		var warm across
		var cold plotter.XYs
		for i, name := range names {
			s := m.Row(name)
			// The dots of several devices must not cover each other.
			y := at(i, names) + 0.16*(float64(len(c.measured())-1)/2-float64(k))
			if s.Warm.Median > 0 {
				x := ms(s.Warm.Median)
				warm.XYs = append(warm.XYs, plotter.XY{X: x, Y: y})
				warm.XErrors = append(warm.XErrors, struct{ Low, High float64 }{x - ms(s.Warm.Q1), ms(s.Warm.Q3) - x})
			}
			if s.Cold > 0 {
				cold = append(cold, plotter.XY{X: ms(s.Cold), Y: y})
			}
		}
		if len(warm.XYs) > 0 {
			dots, err := plotter.NewScatter(warm.XYs)
			if err != nil {
				return nil, fmt.Errorf("plot the times of %s: %w", m.Name, err)
			}
			dots.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
			bars, err := plotter.NewXErrorBars(warm)
			if err != nil {
				return nil, fmt.Errorf("plot the times of %s: %w", m.Name, err)
			}
			bars.Color = colour
			p.Add(bars, dots)
			p.Legend.Add(tr.Sprint(DeviceName(m.Name))+tr.Sprintf(", warm: median and quartiles"), dots)
		}
		if len(cold) > 0 {
			rings, err := plotter.NewScatter(cold)
			if err != nil {
				return nil, fmt.Errorf("plot the times of %s: %w", m.Name, err)
			}
			rings.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: vg.Points(3), Shape: draw.RingGlyph{}}
			p.Add(rings)
			p.Legend.Add(tr.Sprint(DeviceName(m.Name))+tr.Sprintf(", the first detection"), rings)
		}
	}
	// Keep dots off the frame, and show at least one decade.
	p.X.Min, p.X.Max = p.X.Min/1.2, 1.2*p.X.Max
	if wide := p.X.Max / p.X.Min; wide < 10 {
		p.X.Min, p.X.Max = p.X.Min/math.Sqrt(10/wide), p.X.Max*math.Sqrt(10/wide)
	}
	return p, nil
}

// plotShares plots the shares as bars, those of several devices side by side.
func (c *Comparison) plotShares(names []message.Message, tr *i18n.Printer) (*plot.Plot, error) {
	p := rowPlot(names, tr.Sprintf("Detection, %.1f MP, %d bits: rate, %% of a plain copy",
		float64(c.Width*c.Height)/1e6, c.Depth), tr)
	grid := plotter.NewGrid()
	grid.Horizontal.Width = 0
	p.Add(grid)
	list := c.measured()
	thick := 0.8 / float64(len(list))
	for k, m := range list {
		colour := palette()[k%len(palette())]
		var bars []plotter.XYer
		for i, name := range names {
			x := 100 * m.Row(name).Share()
			if x == 0 {
				continue
			}
			top := at(i, names) + 0.4 - thick*float64(k)
			bars = append(bars, plotter.XYs{{X: 0, Y: top}, {X: x, Y: top}, {X: x, Y: top - thick},
				{X: 0, Y: top - thick}})
		}
		for i, b := range bars {
			shape, err := plotter.NewPolygon(b)
			if err != nil {
				return nil, fmt.Errorf("plot the rates of %s: %w", m.Name, err)
			}
			shape.Color, shape.LineStyle.Width = colour, 0
			p.Add(shape)
			if i == 0 {
				p.Legend.Add(tr.Sprint(DeviceName(m.Name)), shape)
			}
		}
	}
	p.X.Min, p.X.Max = 0, max(p.X.Max, 1)
	return p, nil
}
