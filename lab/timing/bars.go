package timing

import (
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"blik/lab/bench"
)

// deviceColours are those of the plots: the palette of Okabe and Ito, which people with any colour vision can
// distinguish.
func deviceColours() []color.Color {
	return []color.Color{
		color.NRGBA{0, 114, 178, 255}, color.NRGBA{213, 94, 0, 255}, color.NRGBA{0, 158, 115, 255},
		color.NRGBA{204, 121, 167, 255}, color.NRGBA{230, 159, 0, 255}, color.NRGBA{86, 180, 233, 255},
	}
}

// bar is the time of a stage on one device.
type bar struct {
	device int
	time   time.Duration
	box    *canvas.Rectangle
	label  *canvas.Text
}

// barRow is a stage with a bar for each device that has it.
type barRow struct {
	name *canvas.Text
	bars []bar
}

// barChart shows the bars of all devices side by side, stage by stage, on one scale that begins at zero.
type barChart struct {
	rows    []barRow
	longest time.Duration
	// names and labels are the widths of the text columns.
	names, labels float32
}

// Sizes of a chart, in Fyne units.
const (
	barHeight  = 14
	barGap     = 6
	barPadding = 8
	shortest   = 1.5
)

// newBarChart draws the warm times of a comparison, with a legend of the devices below.
func newBarChart(v *View, c *bench.Comparison) fyne.CanvasObject {
	chart := &barChart{}
	box := container.New(chart)
	text := func(s string, bold bool) *canvas.Text {
		t := canvas.NewText(s, theme.Color(theme.ColorNameForeground))
		t.TextSize = theme.Size(theme.SizeNameCaptionText)
		t.TextStyle.Bold = bold
		return t
	}
	colours := deviceColours()
	for _, name := range c.Names() {
		row := barRow{name: text(v.texts.Sprint(name), name.Equal(c.Devices[0].Total.Name))}
		for i := range c.Devices {
			took := c.Devices[i].Row(name).Warm.Median
			if took <= 0 {
				continue
			}
			b := bar{i, took, canvas.NewRectangle(colours[i%len(colours)]), text(v.milliseconds(took), false)}
			b.box.CornerRadius = 2
			row.bars = append(row.bars, b)
			box.Add(b.box)
			box.Add(b.label)
			chart.longest = max(chart.longest, took)
			chart.labels = max(chart.labels, b.label.MinSize().Width)
		}
		if len(row.bars) == 0 {
			continue
		}
		box.Add(row.name)
		chart.names = max(chart.names, row.name.MinSize().Width)
		chart.rows = append(chart.rows, row)
	}
	legend := container.NewVBox()
	for i, d := range c.Devices {
		square := canvas.NewRectangle(colours[i%len(colours)])
		square.SetMinSize(fyne.NewSquareSize(11))
		title := v.texts.Sprint(bench.DeviceName(d.Name))
		if d.Title != "" {
			title += ": " + d.Title
		}
		legend.Add(container.NewHBox(container.NewCenter(square), text(title, false)))
	}
	return container.NewBorder(nil, container.NewPadded(legend), nil, nil, container.NewVScroll(box))
}

// milliseconds writes a time in ms with three significant digits, below 1 ms with three decimals.
func (v *View) milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	decimals := 3
	switch {
	case ms >= 100:
		decimals = 0
	case ms >= 10:
		decimals = 1
	case ms >= 1:
		decimals = 2
	}
	return v.t("%s ms", v.texts.Number(ms, decimals))
}

func (c *barChart) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	room := max(size.Width-c.names-c.labels-4*barPadding, 10)
	y := float32(barPadding)
	for _, r := range c.rows {
		height := barHeight * float32(len(r.bars))
		name := r.name.MinSize()
		r.name.Resize(name)
		r.name.Move(fyne.NewPos(barPadding, y+(height-name.Height)/2))
		for i, b := range r.bars {
			top := y + barHeight*float32(i)
			width := max(room*float32(b.time)/float32(c.longest), shortest)
			b.box.Resize(fyne.NewSize(width, barHeight-2))
			b.box.Move(fyne.NewPos(c.names+2*barPadding, top+1))
			label := b.label.MinSize()
			b.label.Resize(label)
			b.label.Move(fyne.NewPos(c.names+width+2.5*barPadding, top+(barHeight-label.Height)/2))
		}
		y += height + barGap
	}
}

func (c *barChart) MinSize([]fyne.CanvasObject) fyne.Size {
	height := float32(2 * barPadding)
	for _, r := range c.rows {
		height += barHeight*float32(len(r.bars)) + barGap
	}
	return fyne.NewSize(c.names+c.labels+60, height)
}
