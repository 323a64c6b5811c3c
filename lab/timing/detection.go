package timing

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/internal/message"
	"blik/lab/bench"
	"blik/processing"
	"blik/ui/xwidget"
)

// generated are the sizes of the pictures that can be rendered, in megapixels.
func generated() []float64 { return []float64{1, 4, 18.7} }

// usualSize is the index in generated of the default.
const usualSize = 1

// repetitions are the available numbers of warm detections, the default first.
func repetitions() []int { return []int{5, 11, 21, 51} }

// compared is a comparison with the machine it was made on.
type compared struct {
	comparison *bench.Comparison
	machine    bench.Machine
	// name is the name of the picture.
	name string
}

// detectionPage compares detection on the CPU and the GPUs.
type detectionPage struct {
	v      *View
	object fyne.CanvasObject

	picture *pictureChoice
	repeat  *xwidget.Select
	run     *xwidget.Button
	save    *saveRow

	chart              *fyne.Container
	warm, cold, copies *cellTable
	summary            *widget.Label
}

// newDetectionPage makes the page with the choices of the previous page, which may be nil.
func newDetectionPage(v *View, before *detectionPage) *detectionPage {
	p := &detectionPage{v: v}
	p.picture = newPictureChoice(v)
	var numbers []string
	for _, n := range repetitions() {
		numbers = append(numbers, strconv.Itoa(n))
	}
	p.repeat = xwidget.NewSelect(numbers, keys{v}, nil)
	p.repeat.SetSelectedIndex(0)
	if before != nil {
		p.repeat.SetSelectedIndex(before.repeat.SelectedIndex())
		p.picture.box.SetSelectedIndex(before.picture.box.SelectedIndex())
	}
	p.run = xwidget.NewButtonWithIcon(v.t("Measure"), theme.MediaPlayIcon(), keys{v}, p.start)
	p.run.Importance = widget.HighImportance
	p.save = newSaveRow(v, p.saveAs)
	head := container.NewBorder(nil, nil,
		container.NewHBox(
			help(v, "Picture", "The picture to search for glare: the open picture with its search region, or a "+
				"synthetic one. The parameters are those of the main window."), xwidget.NewMinWidth(210, p.picture.box),
			xwidget.NewGap(4, 0), help(v, "Repetitions",
				"Warm detections on each device. The table shows their median and "+
					"quartiles."), xwidget.NewMinWidth(64, p.repeat),
			xwidget.NewGap(4, 0), p.run),
		p.save.object)

	intro := xwidget.NewWrapped("")
	intro.SetText(v.t("Searches the picture for glare on the CPU and on each GPU with the parameters of the main " +
		"window, stage by stage: first cold, then warm as often as chosen. Then compares the masks, and the rate of " +
		"each stage with that of a plain copy."))
	p.chart = container.NewStack(intro)
	p.warm, p.cold, p.copies = newCellTable(), newCellTable(), newCellTable()
	tables := container.NewAppTabs(
		container.NewTabItem(v.t("Warm"), p.warm),
		container.NewTabItem(v.t("Cold"), p.cold),
		container.NewTabItem(v.t("Copy limits"), p.copies))
	split := container.NewHSplit(p.chart, tables)
	split.SetOffset(0.28)
	p.summary = xwidget.NewWrapped("")
	// The text may be long; it scrolls, so that it does not move what is above it.
	summary := container.NewVScroll(p.summary)
	summary.SetMinSize(fyne.NewSize(0, 84))
	p.object = container.NewBorder(
		container.New(layout.NewCustomPaddedLayout(8, 6, 8, 8), head),
		container.NewVBox(widget.NewSeparator(), summary), nil, nil, split)
	p.show()
	return p
}

// help makes a name with a help text.
func help(v *View, name, text message.Text) fyne.CanvasObject {
	return container.NewCenter(xwidget.NewHelpLabel(v.t(name), v.t(text), v.tips))
}

// refresh shows the current state.
func (p *detectionPage) refresh() {
	p.picture.refresh()
	xwidget.SetEnabled(p.run, !p.v.running)
	xwidget.SetEnabled(p.picture.box, !p.v.running)
	xwidget.SetEnabled(p.repeat, !p.v.running)
	p.save.enable(p.v.compared != nil && !p.v.running, p.v.compared != nil && !p.v.running)
}

// show shows the last measurement.
func (p *detectionPage) show() {
	if p.v.compared == nil {
		return
	}
	c, tr := p.v.compared.comparison, p.v.texts
	p.chart.Objects = []fyne.CanvasObject{newBarChart(p.v, c)}
	p.chart.Refresh()
	p.warm.SetCells(c.Warm(tr))
	p.cold.SetCells(c.Cold(tr))
	p.copies.SetCells(c.Copies(tr))
	mode := p.v.t("adaptive parameters")
	if c.Params.Mode == processing.Manual {
		mode = p.v.t("manual parameters")
	}
	what := p.v.t("%s: %s × %s px, %s MP, %d bit, %s", p.v.compared.name, p.v.texts.Int(c.Width),
		p.v.texts.Int(c.Height), p.v.texts.Megapixels(c.Width, c.Height), c.Depth, mode)
	what += "\n" + p.v.t("CPU kernels: %s", p.v.compared.machine.Kernels)
	p.summary.SetText(what + "\n" + strings.Join(c.Conclusions(tr), "\n"))
}

// start starts a measurement.
func (p *detectionPage) start() {
	v := p.v
	if v.running {
		return
	}
	source, name, params := p.picture.source(), p.picture.box.Selected, v.Session.Settings().Params
	repeat := repetitions()[max(p.repeat.SelectedIndex(), 0)]
	machine := bench.ThisMachine(v.Version, time.Now())
	start(v, v.t("Measuring – other programs will distort the result."), measureFailed,
		func(ctx context.Context, report processing.Progress) (*bench.Comparison, error) {
			pic, region, err := source(ctx, report)
			if err != nil {
				return nil, err
			}
			return v.Compare(ctx, bench.Request{
				Picture: pic, Region: region, Params: params, Repeat: repeat,
				Progress: func(p bench.Progress) {
					report(message.Of("%s: %s", bench.DeviceName(p.Device), p.Doing), p.Done)
				},
			})
		}, func(c *bench.Comparison, err error) {
			if err != nil {
				return
			}
			for _, d := range c.Devices {
				if d.Name != "cpu" && d.Runs > 0 {
					machine.GPUs = append(machine.GPUs, d.Title)
				}
			}
			v.compared = &compared{c, machine, name}
			v.detection.show()
			v.note("compared %d", len(c.Devices))
		})
}

// saveAs writes the last measurement.
func (p *detectionPage) saveAs(extension string) {
	v := p.v
	if v.compared == nil {
		return
	}
	c, machine, tr := v.compared.comparison, v.compared.machine, v.texts
	v.save("blik-detect", extension, func(w io.Writer) error {
		switch extension {
		case csvFile:
			return c.CSV(w)
		case jsonFile:
			return c.JSON(w, machine, tr)
		}
		plots, err := c.Plots(tr)
		if err != nil || len(plots) == 0 {
			return err
		}
		return plots[0].Write(w, extension)
	})
}
