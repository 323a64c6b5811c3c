package timing

import (
	"fmt"
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/lab/bench"
	"blik/ui/xwidget"
)

// plotBox shows one of several plots, drawn in the background at the size of the box.
type plotBox struct {
	widget.BaseWidget
	dispatch func(func())

	plots []bench.Plot
	at    int
	// drawing is set while a plot is being drawn; drawn is the plot requested last.
	drawing bool
	drawn   drawing

	picture *canvas.Image
	empty   *widget.Label
	// number shows which plot is visible, between the buttons of turn; room is the space for the plot.
	number               *widget.Label
	turn, room, contents *fyne.Container
}

// drawing is one plot at one size.
type drawing struct {
	name string
	size image.Point
}

func newPlotBox(dispatch func(func()), k xwidget.Keys, empty string) *plotBox {
	p := &plotBox{dispatch: dispatch, picture: &canvas.Image{FillMode: canvas.ImageFillContain},
		empty: xwidget.NewWrapped(""), number: widget.NewLabel("")}
	p.empty.SetText(empty)
	p.picture.Hide()
	p.turn = container.NewHBox(
		xwidget.NewButtonWithIcon("", theme.NavigateBackIcon(), k, func() { p.step(-1) }), p.number,
		xwidget.NewButtonWithIcon("", theme.NavigateNextIcon(), k, func() { p.step(1) }))
	p.turn.Hide()
	p.room = container.NewStack(p.empty, p.picture)
	p.contents = container.NewBorder(container.NewCenter(p.turn), nil, nil, nil, p.room)
	p.ExtendBaseWidget(p)
	return p
}

// SetPlots replaces the plots and shows the first.
func (p *plotBox) SetPlots(plots []bench.Plot) {
	p.plots, p.at = plots, 0
	p.show()
}

// Plot returns the plot that is shown.
func (p *plotBox) Plot() (bench.Plot, bool) {
	if len(p.plots) == 0 {
		return bench.Plot{}, false
	}
	return p.plots[p.at], true
}

func (p *plotBox) step(by int) {
	if n := len(p.plots); n > 0 {
		p.at = (p.at + by + n) % n
	}
	p.show()
}

func (p *plotBox) show() {
	if len(p.plots) > 1 {
		p.number.SetText(fmt.Sprintf("%d / %d", p.at+1, len(p.plots)))
		p.turn.Show()
	} else {
		p.turn.Hide()
	}
	if len(p.plots) == 0 {
		p.picture.Hide()
		p.empty.Show()
	}
	p.drawn = drawing{}
	p.draw()
}

// draw has the plot drawn, unless it is already drawn at this size.
func (p *plotBox) draw() {
	plot, ok := p.Plot()
	c := fyne.CurrentApp().Driver().CanvasForObject(p)
	if !ok || p.drawing || c == nil {
		return
	}
	room := p.room.Size()
	want := drawing{plot.Name, image.Pt(int(room.Width*c.Scale()), int(room.Height*c.Scale()))}
	if want == p.drawn || want.size.X < 1 || want.size.Y < 1 {
		return
	}
	p.drawing, p.drawn = true, want
	go func() {
		img := plot.Image(want.size.X, want.size.Y)
		p.dispatch(func() {
			p.drawing = false
			if now, ok := p.Plot(); ok && now.Name == want.name {
				p.empty.Hide()
				p.picture.Image = img
				p.picture.Show()
				p.picture.Refresh()
			}
			p.draw()
		})
	}()
}

// Resize redraws the plot at the new size.
func (p *plotBox) Resize(size fyne.Size) {
	p.BaseWidget.Resize(size)
	p.draw()
}

// MinSize lets the plot shrink.
func (p *plotBox) MinSize() fyne.Size {
	p.ExtendBaseWidget(p)
	return fyne.NewSize(160, 120)
}

func (p *plotBox) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(p.contents)
}
