package timing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/session"
	"blik/app/session/editor"
	"blik/app/session/store"
	"blik/app/settings"
	"blik/internal/message"
	"blik/internal/test/uitest"
	"blik/lab/bench"
	"blik/lab/experiment"
	"blik/processing"
	"blik/ui"
	"blik/ui/filedialog"
	"blik/ui/xwidget"
)

// harness is a view whose measurements are fakes, and whose callbacks run on the test's goroutine.
type harness struct {
	*View
	tb    *testing.T
	queue chan func()
	// path is the answer of the file dialog; asked is its last request.
	path  string
	asked filedialog.Request
	// request and options are those of the last measurement; block makes a measurement wait for a cancel.
	request    bench.Request
	experiment *experiment.Experiment
	options    experiment.Options
	block      bool
	fails      error
	providers  []experiment.Provider
	missing    *message.Message
	released   int
	changes    []bool
	files      *store.Store
}

func newHarness(t *testing.T, lang string) *harness {
	t.Helper()
	words := i18n.For(lang)
	h := &harness{tb: t, queue: make(chan func(), 1000)}
	dispatch := func(f func()) { h.queue <- f }
	chosen := settings.Default()
	work := session.New(session.Options{Settings: &chosen, Dispatch: dispatch})
	h.files = store.New(work, store.Options{Files: disk{}})
	work.Subscribe(func(c session.Change) {
		if c.Busy {
			h.changes = append(h.changes, work.Busy())
		}
	})
	h.View = New(Host{Host: ui.Host{
		App: test.NewTempApp(t), Version: "1.2.3", Session: work, Dispatch: dispatch, Later: dispatch,
		Files:    func(fyne.Window, *xwidget.Modals) filedialog.Dialogs { return h },
		Sentence: func(err error) string { return err.Error() },
	},
		Compare:    h.compare,
		Experiment: h.measure,
		Providers: func(context.Context) ([]experiment.Provider, func(), *message.Message) {
			return h.providers, func() { h.released++ }, h.missing
		},
		Generate: func(_ context.Context, mp float64) (*processing.Picture, error) {
			n := int(mp * 10)
			return &processing.Picture{Width: n, Height: n, Channels: 1, U8: make([]uint8, n*n)}, nil
		},
	}, words)
	t.Cleanup(func() { work.Close(context.Background()) })
	h.Show()
	return h
}

func (h *harness) Open(filedialog.Request, filedialog.Done)   {}
func (h *harness) Choose(filedialog.Request, filedialog.Done) {}
func (h *harness) Save(r filedialog.Request, done filedialog.Done) {
	h.asked = r
	done(h.path, nil)
}

// disk holds a picture of 7 × 5 pixels.
type disk struct{ store.Files }

func (disk) Read(_ context.Context, path string) (*imagefile.File, error) {
	pic := &processing.Picture{Width: 7, Height: 5, Channels: 1, U8: make([]uint8, 35)}
	return &imagefile.File{Path: path, Format: imagefile.PNG, Orientation: 1, Picture: pic}, nil
}

func (disk) ReadPreview(context.Context, string, int) (*imagefile.Preview, error) { return nil, nil }

// settle runs callbacks until no job is left.
func (h *harness) settle() {
	h.tb.Helper()
	for timeout := time.After(time.Minute); h.Session.Busy() || len(h.queue) > 0; {
		select {
		case f := <-h.queue:
			f()
		case <-timeout:
			h.tb.Fatal("the job does not end")
		}
	}
}

func stage(en string, ms float64) bench.Stage {
	d := time.Duration(ms * 1e6)
	return bench.Stage{Name: message.Of(message.Text(en)), Cold: 2 * d,
		Warm: experiment.Spread{Median: d, Q1: d, Q3: d, Fastest: d}, Bytes: 1000}
}

// compare returns the times of two devices.
func (h *harness) compare(ctx context.Context, r bench.Request) (*bench.Comparison, error) {
	h.request = r
	r.Progress(bench.Progress{Device: "cpu", Doing: message.Of("background"), Done: 0.5})
	if h.block {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if h.fails != nil {
		return nil, h.fails
	}
	c := &bench.Comparison{Width: r.Picture.Width, Height: r.Picture.Height, Channels: 3, Depth: 8, Params: r.Params,
		Findings: 12, Marked: 345}
	for i, name := range []string{"cpu", "cuda:0"} {
		k := 1 / float64(1+9*i)
		c.Devices = append(c.Devices, bench.Measurement{
			Name: name, Title: []string{"Abacus 3", "Loom 9"}[i], State: experiment.Measured, Runs: r.Repeat,
			Stages:  []bench.Stage{stage("background", 80*k), stage("cores", 15*k)},
			Kernels: stage("kernels", 95*k), Total: stage("total", 100*k),
		})
	}
	return c, nil
}

// measure returns rows for all requested cases.
func (h *harness) measure(ctx context.Context, e *experiment.Experiment, o experiment.Options) (*experiment.Result,
	error) {
	h.experiment, h.options = e, o
	if h.fails != nil {
		return nil, h.fails
	}
	r := &experiment.Result{Experiment: e}
	grids := e.Grids
	if o.Quick {
		grids = e.Quick
	}
	for _, g := range grids {
		for _, s := range g.Sizes {
			for i, m := range []string{"5", "15"} {
				d := time.Duration(i+1) * time.Millisecond
				row := experiment.Row{Variant: e.Variants[0],
					Case:  experiment.Case{Size: s, Values: map[string]string{"m": m}},
					State: experiment.Measured, Runs: 3, Spread: experiment.Spread{Median: d, Q1: d, Q3: d, Fastest: d}}
				o.Progress(experiment.Progress{Done: len(r.Rows), Total: 100, Variant: row.Variant, Case: row.Case})
				r.Rows = append(r.Rows, row)
				o.Row(row)
				if h.block {
					<-ctx.Done()
					return r, ctx.Err()
				}
			}
		}
	}
	r.Conclusions = []experiment.Conclusion{{Verdict: experiment.Confirmed, Text: message.Of("Confirmed: it is so")}}
	return r, nil
}

func TestDetection(t *testing.T) {
	h := newHarness(t, "en")
	p := h.detection
	if p.picture.box.Selected != "synthetic, 4 MP" || !p.save.tables[0].Disabled() {
		t.Errorf("%q is chosen at first", p.picture.box.Selected)
	}
	p.repeat.SetSelected("11")
	keys{h.View}.Key(&fyne.KeyEvent{Name: fyne.KeyF5})
	if !h.busy.Visible() || !p.run.Disabled() || !strings.HasPrefix(h.message.Text(), "Measuring") {
		t.Errorf("a measurement does not show: %q", h.message.Text())
	}
	h.settle()
	if h.request.Repeat != 11 || h.request.Picture.Width != 40 || h.busy.Visible() || p.run.Disabled() ||
		h.message.Text() != "" {
		t.Errorf("asked for %+v, then %q", h.request, h.message.Text())
	}
	if !slices.Equal(h.changes, []bool{true, false}) {
		t.Errorf("the program received %v", h.changes)
	}
	if got := fmt.Sprint(p.warm.Cells()); !strings.Contains(got, "[background 80.0") ||
		!strings.Contains(got, "speed-up") {
		t.Errorf("the table shows %s", got)
	}
	if got := p.summary.Text; !strings.HasPrefix(got,
		"synthetic, 4 MP: 40 × 40 px, 0 MP, 8 bit, adaptive parameters\n") || !strings.Contains(got, "identical") {
		t.Errorf("the text is %q", got)
	}
	if p.save.tables[0].Disabled() || p.save.plots[0].Disabled() {
		t.Error("saving the measurement is not available")
	}
	// The language changes, the measurement stays.
	russian := i18n.For("ru")
	h.SetTexts(russian)
	if got := fmt.Sprint(h.detection.warm.Cells()); !strings.Contains(got, "фон 80,0") {
		t.Errorf("in Russian the table shows %s", got)
	}
	shown := fmt.Sprint(h.detection.warm.Cells(), h.detection.cold.Cells()) + h.detection.summary.Text
	for _, text := range uitest.Find[*canvas.Text](h.detection.object) {
		shown += "\n" + text.Text
	}
	if strings.Contains(shown, "cpu") || !strings.Contains(shown, "ЦП, мс") || !strings.Contains(shown, "ЦП: Abacus 3") ||
		!strings.Contains(shown, "относительно ЦП") {
		t.Errorf("in Russian the page says %s", shown)
	}
}

// The bars share one scale, lie next to each other, and are complete.
func TestBars(t *testing.T) {
	h := newHarness(t, "en")
	c, err := h.compare(context.Background(), bench.Request{Picture: &processing.Picture{}, Repeat: 1,
		Progress: func(bench.Progress) {}})
	if err != nil {
		t.Fatal(err)
	}
	// A stage that only one device has, and one too short to be visible.
	c.Devices[1].Stages = append(c.Devices[1].Stages, stage("quick", 0.001))
	w := test.NewTempWindow(t, newBarChart(h.View, c))
	w.Resize(fyne.NewSize(500, 400))
	chart := chartIn(t, w)
	var names []string
	for _, r := range chart.rows {
		names = append(names, fmt.Sprintf("%s %d", r.name.Text, len(r.bars)))
		for i, b := range r.bars {
			if b.box.Size().Width < shortest || b.label.Text == "" || b.label.Position().X+b.label.Size().Width > 500 {
				t.Errorf("%s: bar of %v, label %q at %v", r.name.Text, b.box.Size(), b.label.Text, b.label.Position())
			}
			if i > 0 && b.box.Position().Y < r.bars[i-1].box.Position().Y+r.bars[i-1].box.Size().Height {
				t.Errorf("%s: bars overlap", r.name.Text)
			}
		}
	}
	if got := strings.Join(names, ", "); got != "background 2, cores 2, quick 1, kernels 2, total 2" {
		t.Errorf("rows: %s", got)
	}
	all := chart.rows[len(chart.rows)-1].bars
	if ratio := all[0].box.Size().Width / all[1].box.Size().Width; ratio < 9.9 || ratio > 10.1 {
		t.Errorf("the ratio of bars of 100 and 10 ms is %g", ratio)
	}
}

// chartIn finds the chart of a window.
func chartIn(t *testing.T, w fyne.Window) *barChart {
	t.Helper()
	var found *barChart
	var look func(o fyne.CanvasObject)
	look = func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *fyne.Container:
			if c, ok := o.Layout.(*barChart); ok {
				found = c
			}
			for _, child := range o.Objects {
				look(child)
			}
		case fyne.Widget:
			for _, child := range test.WidgetRenderer(o).Objects() {
				look(child)
			}
		}
	}
	look(w.Content())
	if found == nil {
		t.Fatal("no chart")
	}
	return found
}

func TestOpenPictureIsMeasured(t *testing.T) {
	h := newHarness(t, "en")
	h.files.Open("/art/a.png", func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
	h.settle()
	region := &processing.Region{Points: []processing.Point{{X: 0, Y: 0}, {X: 3, Y: 3}}}
	if err := editor.New(h.Session).SetRegion(region); err != nil {
		t.Fatal(err)
	}
	h.Refresh()
	if got := h.detection.picture.box.Selected; got != "a.png" {
		t.Fatalf("%q is chosen", got)
	}
	h.detection.start()
	h.settle()
	if h.request.Picture != h.picture().Picture || h.request.Region != h.picture().Region {
		t.Error("the wrong picture was measured")
	}
	h.detection.picture.box.SetSelected("synthetic, 1 MP")
	h.Refresh()
	h.detection.start()
	h.settle()
	if h.request.Picture.Width != 10 || h.request.Region != nil {
		t.Errorf("measured %d wide, region %v", h.request.Picture.Width, h.request.Region)
	}

	h.experiments.picture.SetSelected("the open picture")
	words := i18n.For("en")
	h.SetTexts(words)
	h.experiments.start()
	h.settle()
	if h.options.Picture != h.picture().Picture || !h.experiments.sizes.boxes[0].Disabled() {
		t.Error("the experiment did not use the open picture")
	}
}

func TestExperiment(t *testing.T) {
	h := newHarness(t, "en")
	h.missing = new(message.Of("There is none."))
	p := h.experiments
	h.tabs.SelectIndex(1)
	if p.question.Text == "" || p.paper.Text == "" || len(p.paperTable.Cells()) == 0 || len(p.table.Cells()) > 0 {
		t.Error("the experiment is not described, or already has rows")
	}
	keys{h.View}.Key(&fyne.KeyEvent{Name: fyne.KeyF5})
	h.settle()
	if h.options.Variants != nil || !h.options.Quick || h.options.Memory <= 0 || h.options.Longest <= 0 ||
		h.released != 1 {
		t.Errorf("measured with %+v; released %d times", h.options, h.released)
	}
	if got := len(p.table.Cells()); got != 1+2 {
		t.Errorf("%d rows in the table", got)
	}
	if want := "Confirmed: it is so.\n\nVariants for a GPU were not measured. There is none."; p.verdict.Text != want {
		t.Errorf("verdict %q", p.verdict.Text)
	}
	if _, ok := p.plot.Plot(); !ok || p.save.plots[0].Disabled() {
		t.Error("no plot")
	}

	// Each experiment keeps its results.
	p.choice.SetSelectedIndex(4)
	if len(p.table.Cells()) > 0 || !p.save.tables[0].Disabled() {
		t.Error("another experiment shows the rows of the first")
	}
	p.choice.SetSelectedIndex(0)
	if len(p.table.Cells()) != 3 || p.save.tables[0].Disabled() {
		t.Error("the rows of the first experiment are gone")
	}
}

func TestChoicesOfAnExperiment(t *testing.T) {
	h := newHarness(t, "en")
	p := h.experiments
	p.quick.SetSelected("Full")
	if len(p.sizes.boxes) < 2 {
		t.Fatalf("%d sizes", len(p.sizes.boxes))
	}
	for _, b := range p.sizes.boxes[1:] {
		b.SetChecked(false)
	}
	for _, b := range p.variants.boxes[2:] {
		b.SetChecked(false)
	}
	p.start()
	h.settle()
	if h.options.Quick || !slices.Equal(h.options.Variants, p.variants.ids[:2]) {
		t.Errorf("measured %q, quick %v", h.options.Variants, h.options.Quick)
	}
	for _, g := range h.experiment.Grids {
		if len(g.Sizes) != 1 || g.Sizes[0].String() != p.sizes.ids[0] {
			t.Errorf("sizes %v, chosen %s", g.Sizes, p.sizes.ids[0])
		}
	}
	if original, err := experiment.Find(h.experiment.ID); err != nil || len(original.Grids[0].Sizes) == 1 {
		t.Errorf("the experiment itself was changed: %v", err)
	}
	// The choices stay when the language changes.
	h.detection.repeat.SetSelectedIndex(2)
	h.detection.picture.box.SetSelectedIndex(0)
	russian := i18n.For("ru")
	h.SetTexts(russian)
	p = h.experiments
	if p.isQuick() || !slices.Equal(p.variants.chosen(), p.variants.ids[:2]) ||
		!slices.Equal(p.sizes.chosen(), p.sizes.ids[:1]) {
		t.Errorf("after a change of language %q and %q are chosen", p.variants.chosen(), p.sizes.chosen())
	}
	if h.detection.repeat.SelectedIndex() != 2 || h.detection.picture.box.SelectedIndex() != 0 {
		t.Errorf("after a change of language %q and %q are chosen", h.detection.repeat.Selected,
			h.detection.picture.box.Selected)
	}
	// Without a choice there is nothing to measure.
	p.sizes.boxes[0].SetChecked(false)
	if !p.run.Disabled() {
		t.Error("measuring without a size can be started")
	}
	p.sizes.boxes[0].SetChecked(true)
	p.variants.boxes[0].SetChecked(false)
	p.variants.boxes[1].SetChecked(false)
	if !p.run.Disabled() {
		t.Error("measuring without a variant can be started")
	}
}

// Closing the view cancels its measurement; finished rows stay.
func TestCancelByClosing(t *testing.T) {
	h := newHarness(t, "en")
	h.block = true
	h.experiments.start()
	for timeout := time.After(time.Minute); len(h.experiments.table.Cells()) < 2; {
		select {
		case f := <-h.queue:
			f()
		case <-timeout:
			t.Fatal("no row is shown during the measurement")
		}
	}
	h.close()
	h.settle()
	if h.message.Text() != "Cancelled" || len(h.experiments.table.Cells()) != 2 || h.running {
		t.Errorf("%q, %d rows", h.message.Text(), len(h.experiments.table.Cells())-1)
	}
	h.Show()
	if h.busy.Visible() || h.experiments.run.Disabled() {
		t.Error("the view is still busy when it is shown again")
	}
}

// While the program works, the view neither measures nor cancels that work.
func TestBusyProgram(t *testing.T) {
	h := newHarness(t, "en")
	var cancelled bool
	release := make(chan struct{})
	session.Begin(h.Session, session.Other, func(ctx context.Context, _ processing.Progress) (int, error) {
		<-release
		cancelled = ctx.Err() != nil
		return 0, nil
	}, nil, func(int, error) {})
	h.detection.start()
	h.experiments.start()
	keys{h.View}.Key(&fyne.KeyEvent{Name: fyne.KeyEscape})
	h.close()
	if !strings.Contains(h.message.Text(), "wait") || h.running || h.request.Picture != nil || len(h.outcomes) > 0 {
		t.Errorf("%q, running %v", h.message.Text(), h.running)
	}
	close(release)
	h.settle()
	if cancelled {
		t.Error("the view cancelled the program's work")
	}
}

func TestFailures(t *testing.T) {
	h := newHarness(t, "en")
	h.fails = errors.New("out of paper")
	for _, start := range []func(){h.detection.start, h.experiments.start} {
		start()
		h.settle()
		if h.win.Canvas().Overlays().Top() == nil || h.running || h.message.Text() != "" {
			t.Errorf("a failure is not reported: %q", h.message.Text())
		}
		keys{h.View}.Key(&fyne.KeyEvent{Name: fyne.KeyReturn})
		if h.win.Canvas().Overlays().Top() != nil {
			t.Error("Enter does not close the dialog")
		}
	}
	if len(h.outcomes) > 0 || h.compared != nil {
		t.Error("a failed measurement left a result")
	}
}

func TestSave(t *testing.T) {
	h := newHarness(t, "en")
	h.detection.start()
	h.settle()
	h.experiments.start()
	h.settle()
	dir := t.TempDir()
	for _, c := range []struct {
		save            func(string)
		extension, name string
		holds           string
	}{
		{h.detection.saveAs, "csv", "blik-detect.csv", "background"},
		{h.detection.saveAs, "json", "blik-detect.json", "Loom 9"},
		{h.detection.saveAs, "svg", "blik-detect.svg", "<svg"},
		{h.detection.saveAs, "png", "blik-detect.png", "\x89PNG"},
		{h.experiments.saveAs, "csv", "blik-sliding.csv", "cpu-direct"},
		{h.experiments.saveAs, "json", "blik-sliding.json", "\"version\": \"1.2.3\""},
		{h.experiments.saveAs, "svg", "blik-sliding_time_1024x1024.svg", "<svg"},
		{h.experiments.saveAs, "png", "blik-sliding_time_1024x1024.png", "\x89PNG"},
	} {
		h.path = filepath.Join(dir, c.name)
		c.save(c.extension)
		h.settle()
		if h.asked.File != c.name || !slices.Equal(h.asked.Extensions, []string{c.extension}) {
			t.Errorf("%s: asked for %+v", c.name, h.asked)
		}
		data, err := os.ReadFile(h.path)
		if err != nil || !strings.Contains(string(data), c.holds) {
			t.Errorf("%s: %v, %d bytes without %q", c.name, err, len(data), c.holds)
		}
		if h.message.Text() != "Saved: "+c.name {
			t.Errorf("%s: %q", c.name, h.message.Text())
		}
	}
	// A cancelled dialog writes nothing; a missing folder is reported.
	h.path = ""
	h.detection.saveAs("csv")
	h.settle()
	h.path = filepath.Join(dir, "none", "a.csv")
	h.detection.saveAs("csv")
	h.settle()
	if h.win.Canvas().Overlays().Top() == nil {
		t.Error("a write error is not reported")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 8 {
		t.Errorf("%d files, %v", len(left), err)
	}
}

// An experiment with example pictures shows them; another experiment removes them.
func TestFigures(t *testing.T) {
	h := newHarness(t, "ru")
	p := h.experiments
	p.choice.SetSelectedIndex(1)
	for timeout := time.After(time.Minute); len(p.words.Items) == 2; {
		select {
		case f := <-h.queue:
			f()
		case <-timeout:
			t.Fatal("no pictures")
		}
	}
	if row := p.figures.Content.(*fyne.Container); len(row.Objects) != 3 {
		t.Errorf("%d pictures", len(row.Objects))
	}
	p.choice.SetSelectedIndex(0)
	if len(p.words.Items) != 2 {
		t.Error("the pictures are still shown for another experiment")
	}
}

// Nothing moves when another experiment is chosen: the column of choices is wide enough for all of them.
func TestChoicesFit(t *testing.T) {
	for _, lang := range []string{"en", "ru"} {
		h := newHarness(t, lang)
		for i := range h.experiments.list {
			h.experiments.choice.SetSelectedIndex(i)
			for _, extent := range h.experiments.quick.Options {
				h.experiments.quick.SetSelected(extent)
				if got := h.experiments.left.MinSize().Width; got > choicesWidth {
					t.Errorf("%s, %s, %s: the choices need %g, there is room for %d", lang,
						h.experiments.choice.Selected, extent, got, choicesWidth)
				}
			}
		}
		if got := h.win.Content().MinSize(); got.Width > 1024 || got.Height > 640 {
			t.Errorf("%s: the view needs %v", lang, got)
		}
	}
}

func TestThrottled(t *testing.T) {
	reports := 0
	report := throttled(func(message.Message, float64) { reports++ })
	for range 1000 {
		report(message.Message{}, 0.5)
	}
	if reports != 1 {
		t.Errorf("%d reports at once", reports)
	}
}
