package timing

import (
	"context"
	"image"
	"io"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/imagefile"
	"blik/internal/message"
	"blik/lab/bench"
	"blik/lab/experiment"
	"blik/processing"
	"blik/ui/xwidget"
)

// longest is the time limit of a single run; slower cases are left out and marked.
const longest = time.Second

// outcome is the result of an experiment, or the part measured so far.
type outcome struct {
	result  *experiment.Result
	machine bench.Machine
	// missing says why no GPU variant was measured; nil if they were.
	missing *message.Message
}

// measured is what the job of an experiment returns.
type measured struct {
	result  *experiment.Result
	missing *message.Message
}

// experimentsPage repeats one of the experiments.
type experimentsPage struct {
	v      *View
	object fyne.CanvasObject
	// left is the column of choices; choices is its scrolled part.
	left    fyne.CanvasObject
	choices *fyne.Container
	list    []*experiment.Experiment

	choice   *xwidget.Select
	question *widget.Label
	quick    *xwidget.Radio
	picture  *xwidget.Select
	variants *checks
	sizes    *checks
	run      *xwidget.Button
	save     *saveRow

	table      *cellTable
	plot       *plotBox
	words      *container.AppTabs
	figures    *container.TabItem
	verdict    *widget.Label
	paper      *widget.Label
	paperTable *cellTable
}

// checks is a list of check boxes.
type checks struct {
	object *fyne.Container
	boxes  []*xwidget.Check
	ids    []string
}

// newExperimentsPage makes the page with the choices of the previous page, which may be nil.
func newExperimentsPage(v *View, before *experimentsPage) *experimentsPage {
	p := &experimentsPage{v: v, list: experiment.All()}
	var names []string
	for _, e := range p.list {
		names = append(names, v.texts.Sprint(e.Name))
	}
	p.choice = xwidget.NewSelect(names, keys{v}, nil)
	p.question = xwidget.NewWrapped("")
	p.quick = xwidget.NewRadio([]string{v.t("Quick"), v.t("Full")}, keys{v}, func(string) { p.fillSizes() })
	p.quick.Horizontal = true
	p.picture = xwidget.NewSelect([]string{v.t("synthetic")}, keys{v}, func(string) { p.fillSizes() })
	p.variants = &checks{object: container.New(layout.NewCustomPaddedVBoxLayout(-4))}
	p.sizes = &checks{object: container.NewGridWithColumns(2)}
	p.run = xwidget.NewButtonWithIcon(v.t("Measure"), theme.MediaPlayIcon(), keys{v}, p.start)
	p.run.Importance = widget.HighImportance
	p.save = newSaveRow(v, p.saveAs)

	group := func(head fyne.CanvasObject, body fyne.CanvasObject) fyne.CanvasObject {
		return container.New(layout.NewCustomPaddedVBoxLayout(2), head,
			container.New(layout.NewCustomPaddedLayout(0, 0, 8, 4), body))
	}
	p.choices = container.New(layout.NewCustomPaddedVBoxLayout(6), p.question,
		group(xwidget.NewHeading(v.t("Extent")), p.quick),
		group(xwidget.NewHeading(v.t("Picture")), p.picture),
		group(xwidget.NewHeading(v.t("Variants")), p.variants.object),
		group(xwidget.NewHeading(v.t("Sizes")), p.sizes.object))
	p.left = xwidget.NewMinWidth(choicesWidth, container.NewBorder(
		container.New(layout.NewCustomPaddedLayout(8, 4, 8, 8), p.choice),
		container.NewVBox(widget.NewSeparator(), container.New(layout.NewCustomPaddedLayout(4, 6, 8, 8), p.run)),
		nil, nil, container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 8, 0, 12), p.choices))))

	p.table = newCellTable()
	p.plot = newPlotBox(v.Dispatch, keys{v}, v.t("The plot appears when the measurement is complete."))
	p.verdict, p.paper, p.paperTable = xwidget.NewWrapped(""), xwidget.NewWrapped(""), newCellTable()
	p.figures = container.NewTabItem(v.t("Pictures"), container.NewStack())
	p.words = container.NewAppTabs(
		container.NewTabItem(v.t("Conclusions"), container.NewVScroll(p.verdict)),
		container.NewTabItem(v.t("The paper"), container.NewBorder(p.paper, nil, nil, nil, p.paperTable)))
	below := container.NewHSplit(p.plot, p.words)
	below.SetOffset(0.6)
	shown := container.NewVSplit(p.table, below)
	shown.SetOffset(0.48)
	right := container.NewBorder(nil,
		container.NewVBox(widget.NewSeparator(), container.New(layout.NewCustomPaddedLayout(4, 6, 8, 8),
			container.NewBorder(nil, nil, nil, p.save.object))), nil, nil, shown)
	p.object = container.NewBorder(nil, nil, container.NewBorder(nil, nil, nil, widget.NewSeparator(), p.left), nil,
		right)

	at, quick := 0, true
	if before != nil {
		at, quick = max(before.choice.SelectedIndex(), 0), before.isQuick()
	}
	p.quick.SetSelected(p.quick.Options[map[bool]int{true: 0, false: 1}[quick]])
	p.picture.SetSelectedIndex(0)
	p.choice.OnChanged = func(string) { p.choose() }
	p.choice.SetSelectedIndex(at)
	if before != nil {
		if before.ownPicture() {
			p.picture.SetSelectedIndex(1)
		}
		p.variants.follow(before.variants)
		p.sizes.follow(before.sizes)
	}
	return p
}

// choicesWidth is the width of the column of choices, in Fyne units. The longest name of a variant fits, so that
// nothing moves when another experiment is chosen.
const choicesWidth = 348

// experiment returns the chosen experiment.
func (p *experimentsPage) experiment() *experiment.Experiment {
	return p.list[max(p.choice.SelectedIndex(), 0)]
}

func (p *experimentsPage) isQuick() bool { return p.quick.Selected == p.quick.Options[0] }

// ownPicture reports whether the open picture is chosen.
func (p *experimentsPage) ownPicture() bool { return p.picture.SelectedIndex() > 0 }

// choose shows another experiment and its last result.
func (p *experimentsPage) choose() {
	e := p.experiment()
	p.question.SetText(p.v.texts.Sprint(e.Question))
	p.variants.fill(p, len(e.Variants), func(i int) (id, name, help string) {
		v := e.Variants[i]
		return v.ID, p.v.texts.Sprint(v.Name), p.v.texts.Sprint(v.Help)
	})
	p.fillSizes()

	p.paper.SetText(p.v.texts.Sprint(e.Paper.Setup) + "\n" + p.v.texts.Sprint(e.Paper.Found))
	p.paperTable.SetCells(bench.PaperCells(e, p.v.texts))
	p.showFigures(e)
	p.show()
	p.v.refreshSaving()
}

// showFigures shows the example pictures of an experiment in a tab of their own, as soon as they are computed. Most
// experiments have none.
func (p *experimentsPage) showFigures(e *experiment.Experiment) {
	p.words.Remove(p.figures)
	go func() {
		figures, err := e.Figures(context.Background())
		p.v.Dispatch(func() {
			if err != nil || len(figures) == 0 || p.experiment() != e {
				return
			}
			row := container.NewGridWithColumns(len(figures))
			for _, f := range figures {
				img := canvas.NewImageFromImage(&image.Gray{Pix: f.Pix, Stride: f.W, Rect: image.Rect(0, 0, f.W, f.H)})
				img.FillMode = canvas.ImageFillContain
				title := xwidget.NewWrapped("")
				title.SizeName = theme.SizeNameCaptionText
				title.SetText(p.v.texts.Sprint(f.Title))
				row.Add(container.NewBorder(nil, title, nil, nil, img))
			}
			p.figures.Content = row
			p.words.Append(p.figures)
		})
	}()
}

// grids returns the cases for the chosen extent.
func (p *experimentsPage) grids() []experiment.Grid {
	if p.isQuick() {
		return p.experiment().Quick
	}
	return p.experiment().Grids
}

// fillSizes lists the sizes of the cases. They are disabled for the user's picture, which has its own.
func (p *experimentsPage) fillSizes() {
	if p.choice.SelectedIndex() < 0 {
		return
	}
	var sizes []experiment.Size
	for _, g := range p.grids() {
		for _, s := range g.Sizes {
			if !slices.Contains(sizes, s) {
				sizes = append(sizes, s)
			}
		}
	}
	p.sizes.fill(p, len(sizes), func(i int) (id, name, help string) {
		return sizes[i].String(), sizes[i].String(), ""
	})
	p.refresh()
}

// fill replaces the boxes, all checked.
func (c *checks) fill(p *experimentsPage, n int, of func(i int) (id, name, help string)) {
	c.boxes, c.ids = nil, nil
	c.object.RemoveAll()
	for i := range n {
		id, name, help := of(i)
		b := xwidget.NewCheck(name, keys{p.v}, func(bool) { p.refresh() })
		b.Checked = true
		c.boxes, c.ids = append(c.boxes, b), append(c.ids, id)
		if help == "" {
			c.object.Add(b)
			continue
		}
		c.object.Add(container.NewHBox(b, xwidget.NewHelpLabel("", help, p.v.tips)))
	}
	// The groups below move up or down.
	p.choices.Refresh()
}

// chosen returns the IDs of the checked boxes.
func (c *checks) chosen() (ids []string) {
	for i, b := range c.boxes {
		if b.Checked {
			ids = append(ids, c.ids[i])
		}
	}
	return ids
}

// follow unchecks the boxes that are unchecked in another list.
func (c *checks) follow(o *checks) {
	for i, b := range o.boxes {
		if at := slices.Index(c.ids, o.ids[i]); at >= 0 && !b.Checked {
			c.boxes[at].SetChecked(false)
		}
	}
}

func (c *checks) enable(on bool) {
	for _, b := range c.boxes {
		xwidget.SetEnabled(b, on)
	}
}

// refresh shows the current state.
func (p *experimentsPage) refresh() {
	options := []string{p.v.t("synthetic")}
	if open := p.v.picture(); open != nil {
		options = append(options, p.v.t("the open picture"))
	}
	own := p.ownPicture()
	p.picture.Options = options
	if own && len(options) == 1 {
		p.picture.SetSelectedIndex(0)
	}
	p.picture.Refresh()
	idle := !p.v.running
	xwidget.SetEnabled(p.choice, idle)
	xwidget.SetEnabled(p.quick, idle)
	xwidget.SetEnabled(p.picture, idle)
	p.variants.enable(idle)
	p.sizes.enable(idle && !p.ownPicture())
	xwidget.SetEnabled(p.run, idle && len(p.variants.chosen()) > 0 && (p.ownPicture() || len(p.sizes.chosen()) > 0))
	p.v.refreshSaving()
}

// refreshSaving greys the save buttons if there is nothing to save.
func (v *View) refreshSaving() {
	p := v.experiments
	if p == nil || p.choice.SelectedIndex() < 0 {
		return
	}
	o := v.outcomes[p.experiment().ID]
	_, plot := p.plot.Plot()
	p.save.enable(o != nil && !v.running, plot && !v.running)
}

// show shows the result of the chosen experiment.
func (p *experimentsPage) show() {
	o := p.v.outcomes[p.experiment().ID]
	if o == nil {
		p.table.SetCells(nil)
		p.plot.SetPlots(nil)
		p.verdict.SetText(p.v.t("Conclusions appear when the measurement is complete."))
		return
	}
	tr := p.v.texts
	p.table.SetCells(bench.Cells(o.result, tr))
	plots, err := bench.Plots(o.result, tr)
	if err != nil {
		p.v.showError("Could not draw the plot", err)
	}
	p.plot.SetPlots(plots)
	var lines []string
	for _, c := range o.result.Conclusions {
		lines = append(lines, p.v.texts.Sprint(c.Text)+".")
	}
	if len(lines) == 0 {
		lines = append(lines, p.v.t("Conclusions appear when the measurement is complete."))
	} else if o.missing != nil {
		lines = append(lines, p.v.t("Variants for a GPU were not measured. %s", p.v.texts.Sprint(*o.missing)))
	}
	p.verdict.SetText(strings.Join(lines, "\n\n"))
}

// chosenCases returns the experiment with only the checked sizes.
func (p *experimentsPage) chosenCases() *experiment.Experiment {
	wanted := p.sizes.chosen()
	only := func(grids []experiment.Grid) (kept []experiment.Grid) {
		for _, g := range grids {
			g.Sizes = slices.DeleteFunc(slices.Clone(g.Sizes),
				func(s experiment.Size) bool { return !slices.Contains(wanted, s.String()) })
			if len(g.Sizes) > 0 {
				kept = append(kept, g)
			}
		}
		return kept
	}
	e := *p.experiment()
	e.Grids, e.Quick = only(e.Grids), only(e.Quick)
	return &e
}

// start starts the measurement; rows appear as they are finished.
func (p *experimentsPage) start() {
	v := p.v
	if v.running || p.run.Disabled() {
		return
	}
	e := p.experiment()
	o := experiment.Options{
		Quick: p.isQuick(), Longest: longest,
		// The limit for a picture is three quarters of the machine's memory.
		Memory: imagefile.DefaultLimits().Bytes / 3 * 2,
	}
	// A GPU may add variants that are not in the list; they are measured if all listed ones are chosen.
	if ids := p.variants.chosen(); len(ids) < len(p.variants.boxes) {
		o.Variants = ids
	}
	if p.ownPicture() {
		o.Picture = v.picture().Picture
	} else {
		e = p.chosenCases()
	}
	now := &outcome{result: &experiment.Result{Experiment: e, Picture: o.Picture != nil},
		machine: bench.ThisMachine(v.Version, time.Now())}
	// start increments turn.
	turn := v.turn + 1
	o.Row = func(r experiment.Row) {
		v.Dispatch(func() {
			if v.turn == turn {
				now.result.Rows = append(now.result.Rows, r)
				v.experiments.grow(e.ID)
			}
		})
	}
	started := start(v, v.t("Measuring – other programs will distort the result."), measureFailed,
		func(ctx context.Context, report processing.Progress) (measured, error) {
			providers, release, missing := v.Providers(ctx)
			defer release()
			o := o
			o.Providers = providers
			o.Progress = func(p experiment.Progress) {
				text := v.texts.Sprint(p.Variant.Name) + " " + p.Case.Size.String()
				report(message.Of("%s", text), float64(p.Done)/float64(max(p.Total, 1)))
			}
			r, err := v.Experiment(ctx, e, o)
			return measured{r, missing}, err
		}, func(m measured, err error) {
			if err == nil {
				now.result, now.missing = m.result, m.missing
				now.machine.GPUs = append(now.machine.GPUs, m.result.Devices...)
			}
			if len(now.result.Rows) == 0 {
				delete(v.outcomes, e.ID)
			}
			v.experiments.show()
			v.note("experiment %s %d", e.ID, len(now.result.Rows))
		})
	if started {
		v.outcomes[e.ID] = now
		p.show()
	}
}

// grow shows the rows measured so far.
func (p *experimentsPage) grow(id string) {
	if p.experiment().ID != id {
		return
	}
	p.table.SetCells(bench.Cells(p.v.outcomes[id].result, p.v.texts))
	p.table.ScrollToBottom()
}

// saveAs writes the result of the chosen experiment.
func (p *experimentsPage) saveAs(extension string) {
	v := p.v
	o := v.outcomes[p.experiment().ID]
	if o == nil {
		return
	}
	tr := v.texts
	plot, drawn := p.plot.Plot()
	name := "blik-" + o.result.Experiment.ID
	if drawn && (extension == pngFile || extension == svgFile) {
		name = "blik-" + plot.Name
	}
	v.save(name, extension, func(w io.Writer) error {
		switch extension {
		case csvFile:
			return bench.CSV(w, o.result)
		case jsonFile:
			return bench.JSON(w, o.machine, o.result, tr)
		}
		return plot.Write(w, extension)
	})
}
