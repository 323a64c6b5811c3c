package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"blik/app/batch"
	"blik/app/colour"
	"blik/app/device"
	"blik/app/document"
	"blik/app/farm/server"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/preset"
	"blik/app/report"
	"blik/app/session"
	"blik/app/session/store"
	"blik/app/settings"
	"blik/app/work"
	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/internal/test/uitest"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/cpu"
	"blik/processing/detect"
	"blik/ui/filedialog"
	"blik/ui/look"
	"blik/ui/prompt"
	"blik/ui/xwidget"
)

// fakeDialogs answer with a path set by the test.
type fakeDialogs struct {
	path  string
	err   error
	asked []filedialog.Request
}

func (d *fakeDialogs) Open(r filedialog.Request, done filedialog.Done) {
	d.asked = append(d.asked, r)
	done(d.path, d.err)
}

func (d *fakeDialogs) Save(r filedialog.Request, done filedialog.Done) { d.Open(r, done) }

func (d *fakeDialogs) Choose(r filedialog.Request, done filedialog.Done) { d.Open(r, done) }

// harness is a window whose work is done by fakes, and whose callbacks run on the test's goroutine. It is the Files,
// the Engine and the Device of the session.
type harness struct {
	*window
	tb      *testing.T
	queue   chan func()
	dialogs *fakeDialogs
	// pictures are the files on the fake disk, masks the masks on it.
	pictures map[string]*processing.Picture
	masks    map[string]*processing.Mask
	// detected are the parameters of the last fake detection, result is its answer; block makes it wait for a cancel.
	detected processing.Params
	searched *processing.Region
	result   *detect.Found
	block    atomic.Bool
	writeErr error
	// notice is the device's notice; gpus are those of the machine.
	notice *message.Message
	gpus   []device.Device
	*fakeDevice
	// spots are those of the last fake correction; pictureFiles are the pictures written by the fake saving, with the
	// options used last; exists are files already on the disk.
	spots        []processing.Spot
	pictureFiles map[string][]processing.Patch
	options      imagefile.SaveOptions
	exists       map[string]bool
	saveErr      error
	reports      []report.Correction
	profile      *colour.Profile
	// adapt changes the request of a batch.
	adapt func(*batch.Request)
	// reading, if not nil, makes files large enough for a placeholder; closing it ends reading them.
	reading chan struct{}
}

var (
	_ store.Files    = (*harness)(nil)
	_ session.Engine = (*harness)(nil)
)

// ReadPreview returns the placeholder of a picture of the fake disk.
func (h *harness) ReadPreview(_ context.Context, path string, _ int) (*imagefile.Preview, error) {
	p := h.pictures[path]
	if h.reading == nil || p == nil {
		return nil, nil
	}
	return &imagefile.Preview{Picture: p, Orientation: 1}, nil
}

// Read returns a picture of the fake disk.
func (h *harness) Read(ctx context.Context, path string) (*imagefile.File, error) {
	if h.reading != nil {
		select {
		case <-h.reading:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p := h.pictures[path]
	if p == nil {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	formats := map[string]imagefile.Format{".png": imagefile.PNG, ".tif": imagefile.TIFF, ".jpg": imagefile.JPEG}
	return &imagefile.File{Path: path, Format: formats[filepath.Ext(path)], Depth: p.Depth(), Orientation: 1,
		Picture: p,
		Profile: h.profile}, nil
}

// ReadMask returns a mask of the fake disk.
func (h *harness) ReadMask(_ context.Context, path string, width, height int, anyPicture bool) (
	*processing.Mask, error,
) {
	if strings.HasSuffix(path, "photo.png") && !anyPicture {
		return nil, &imagefile.Error{Path: path, Kind: imagefile.ErrNotMask, Fault: message.Of("this is not a mask")}
	}
	m := h.masks[path]
	if m == nil || m.Width != width || m.Height != height {
		return nil, errors.New("the mask has another size")
	}
	return m, nil
}

// WriteMask puts a mask on the fake disk.
func (h *harness) WriteMask(_ context.Context, path string, m *processing.Mask, o imagefile.WriteOptions) error {
	if h.exists[path] && !o.Overwrite {
		return &imagefile.Error{Path: path, Kind: imagefile.ErrExists}
	}
	if h.writeErr == nil {
		h.masks[path] = m
	}
	return h.writeErr
}

// Search finds nothing.
func (h *harness) Search(context.Context, *processing.Picture, detect.Options) (
	*detect.Table, *message.Message, error,
) {
	return &detect.Table{Described: true}, nil, nil
}

// Inspect computes on the processor.
func (h *harness) Inspect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.LayerOptions) (
	*detect.LayerMap, error,
) {
	return detect.Inspect(ctx, cpu.New(), pic, p, o)
}

// Levels counts on the processor.
func (h *harness) Levels(ctx context.Context, pic *processing.Picture, region *processing.Region) (
	all, inside []uint64, err error,
) {
	return detect.LevelHistogram(ctx, cpu.New(), pic, region)
}

// Detect returns result.
func (h *harness) Detect(ctx context.Context, _ *processing.Picture, p processing.Params, o detect.Options) (
	*detect.Result, *message.Message, error,
) {
	h.detected, h.searched = p, o.Region
	o.Progress(message.Of("background"), 0.5)
	if h.block.Load() {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return &detect.Result{Found: *h.result}, h.notice, nil
}

// Correct sets the pixels of each spot, and one to the right of it, to the value of its method.
func (h *harness) Correct(ctx context.Context, pic *processing.Picture, _ *processing.Mask, p processing.Params,
	o correct.Options,
) (*correct.Correction, *message.Message, error) {
	// A trial of all methods runs beside the job.
	if len(o.Spots) < 2 || o.Spots[0].ID != o.Spots[1].ID {
		h.spots = o.Spots
	}
	o.Progress(message.Of("filling"), 0.5)
	if h.block.Load() {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	c := &correct.Correction{Device: "fake"}
	for _, s := range o.Spots {
		m := s.Method
		if m == processing.MethodAuto {
			m = p.Method
		}
		if m == processing.MethodAuto {
			m = processing.MethodHarmonic
		}
		patch := processing.Patch{Spot: s.ID, Method: m, Runs: slices.Clone(s.Runs)}
		patch.Runs[len(patch.Runs)-1].X1++
		for _, r := range patch.Runs {
			patch.U8 = append(patch.U8, bytes.Repeat([]byte{uint8(m)}, (r.X1-r.X0)*pic.Channels)...)
		}
		c.Patches = append(c.Patches, patch)
	}
	return c, h.notice, nil
}

// Save records the patches and the account, and refuses what the real one refuses.
func (h *harness) Save(_ context.Context, c report.Correction, path, lang string, o imagefile.SaveOptions) (
	w work.Written, err error,
) {
	h.options = o
	lossy := filepath.Ext(path) == ".jpg"
	switch {
	case h.saveErr != nil:
		return w, h.saveErr
	case h.exists[path] && !o.Overwrite:
		return w, &imagefile.Error{Path: path, Kind: imagefile.ErrExists}
	case lossy && !o.AllowLossy:
		return w, &imagefile.Error{Path: path, Kind: imagefile.ErrLossy}
	}
	h.pictureFiles[path] = c.Patches
	n := 0
	for _, p := range c.Patches {
		for _, r := range p.Runs {
			n += r.X1 - r.X0
		}
	}
	w.Saved = &imagefile.Saved{Path: path, Lossy: lossy, PixelsChanged: int64(n),
		Proof: &imagefile.Proof{Changed: int64(n)}}
	if lang != "" {
		c.Saved = w.Saved
		h.reports = append(h.reports, c)
		w.Report = strings.TrimSuffix(path, filepath.Ext(path)) + "." + lang + ".html"
	}
	return w, nil
}

// glint is a finding of one row of pixels.
func glint(id, x, y, length int) detect.Finding {
	return detect.Finding{
		ID: id, X: float64(x) + float64(length)/2, Y: float64(y) +
			0.5, Left: x, Top: y, Width: length, Height: 1, Area: length,
		Peak: 255, Score: 3.5, Runs: []processing.Run{{Y: y, X0: x, X1: x + length}},
	}
}

func newHarness(t *testing.T, lang string) *harness {
	t.Helper()
	return newHarnessWith(t, lang, "")
}

// newHarnessWith makes a window that stores unsaved work in a folder.
func newHarnessWith(t *testing.T, lang, journal string) *harness {
	t.Helper()
	h := &harness{
		tb: t, queue: make(chan func(), 1000), dialogs: &fakeDialogs{}, fakeDevice: &fakeDevice{},
		pictures: map[string]*processing.Picture{"/art/a.png": testpic.Flat(200, 100, 3, 100),
			"/art/b.tif": testpic.Flat(50, 60, 3, 100)},
		masks: map[string]*processing.Mask{}, pictureFiles: map[string][]processing.Patch{}, exists: map[string]bool{},
	}
	findings := []detect.Finding{glint(1, 20, 10, 4), glint(2, 100, 50, 2)}
	mask := processing.NewMask(200, 100)
	for _, f := range findings {
		for _, r := range f.Runs {
			for x := r.X0; x < r.X1; x++ {
				mask.Pix[r.Y*200+x] = 255
			}
		}
	}
	used := processing.DefaultParams()
	used.Mode, used.Window, used.Visible = processing.Manual, 21, 7.125
	h.result = &detect.Found{Device: "cpu", Mask: mask, Findings: findings, Params: used,
		Chosen: []detect.Chosen{
			{ID: "window", Name: message.Of("Background window"), Value: 21, Why: message.Of("because")},
		}}
	return h.start(config{store: store.Options{Files: h, Journal: journal}, engine: h, device: h.fakeDevice}, lang)
}

// real is a configuration with the files and the devices of this machine.
func real() config {
	devices := device.NewSwitch()
	return config{
		store: store.Options{Files: store.Disk(session.Limits())}, engine: session.On(devices), device: devices,
	}
}

// noTiming is a timing view that shows nothing.
type noTiming struct{}

func (noTiming) Show()                  {}
func (noTiming) SetTexts(*i18n.Printer) {}

// start makes the window of a session.
func (h *harness) start(c config, lang string) *harness {
	h.tb.Helper()
	words := i18n.For(lang)
	chosen := settings.Default()
	chosen.Device, chosen.Appearance = deviceAuto, string(look.System)
	c.texts, c.version, c.store.Version = words, "1.2.3", "1.2.3"
	c.session.Settings, c.session.Dispatch = &chosen, func(f func()) { h.queue <- f }
	c.machine = func() ([]device.Device, error) { return append([]device.Device{{Name: "cpu"}}, h.gpus...), nil }
	c.queue, c.timing = server.Embed, func(Host, *i18n.Printer) TimingView { return noTiming{} }
	c.dialogs = func(*prompt.Prompts, fyne.Window, *xwidget.Modals) filedialog.Dialogs { return h.dialogs }
	c.adapt = func(r *batch.Request) {
		if h.adapt != nil {
			h.adapt(r)
		}
	}
	h.window = newWindow(test.NewTempApp(h.tb), c)
	h.win.Resize(fyne.NewSize(1280, 800))
	h.tb.Cleanup(func() { h.win.Close() })
	return h
}

// Unsaved work is offered, newest first, and continues where it ended: with the mask, or without it if all is corrected.
func TestUnsavedWorkIsOffered(t *testing.T) {
	for _, corrected := range []bool{false, true} {
		t.Run(fmt.Sprint(corrected), func(t *testing.T) { testUnsaved(t, corrected) })
	}
}

func testUnsaved(t *testing.T, corrected bool) {
	dir := filepath.Join(t.TempDir(), "unsaved")
	first := newHarnessWith(t, "en", dir).opened()
	first.c.editor.BeginStroke(document.Brush{Radius: 3}, processing.Point{X: 50, Y: 40})
	first.c.editor.EndStroke()
	if corrected {
		first.k.actions.do("correct.all")
		first.settle()
	}
	want := slices.Clone(first.c.session.Document().Mask().Pix)
	// The program is killed without discarding the work.
	if err := first.c.session.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := newHarnessWith(t, "en", dir)
	// The question is answered while the file of the command line is still being read.
	h.files.Open("/art/b.tif")
	h.recovery.offerUnsaved(0)
	h.awaitDialog("/art/a.png had not been saved")
	h.press("Restore")
	h.settle()
	if !slices.Equal(h.c.session.Document().Mask().Pix, want) {
		t.Error("the mask differs from the painted one")
	}
	if h.k.display.maskShown == corrected {
		t.Errorf("the mask is shown: %v", h.k.display.maskShown)
	}
	if mask, _ := h.c.store.Unsaved(); !mask {
		t.Error("restored work counts as saved")
	}
	h.c.store.Forget()
	// The journal is written until here.
	if err := h.c.session.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The work of a program that was killed a moment ago is offered as soon as the program has ended.
func TestUnsavedWorkOfADyingProgramIsOffered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "unsaved")
	first := newHarnessWith(t, "en", dir).opened()
	first.c.editor.BeginStroke(document.Brush{Radius: 3}, processing.Point{X: 50, Y: 40})
	first.c.editor.EndStroke()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if all, _ := filepath.Glob(filepath.Join(dir, "*.journal")); len(all) > 0 {
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatal("no journal is written")
		}
	}
	h := newHarnessWith(t, "en", dir)
	if !h.c.store.OthersRun() {
		t.Fatal("the first program does not count as running")
	}
	h.recovery.offerUnsaved(time.Hour)
	if err := first.c.session.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.awaitDialog("/art/a.png had not been saved")
}

// awaitDialog runs callbacks until a dialog with a text is on top.
func (h *harness) awaitDialog(text string) {
	h.tb.Helper()
	timeout := time.After(time.Minute)
	for !strings.Contains(h.dialogTexts(), text) {
		select {
		case f := <-h.queue:
			f()
		case <-timeout:
			h.tb.Fatalf("no dialog says %q; there is %q", text, h.dialogTexts())
		}
	}
}

// settle runs callbacks until no job is left.
func (h *harness) settle() {
	h.tb.Helper()
	timeout := time.After(time.Minute)
	for h.c.session.Busy() {
		select {
		case f := <-h.queue:
			f()
		case <-timeout:
			h.tb.Fatal("the job does not end")
		}
	}
}

func (h *harness) opened() *harness {
	h.tb.Helper()
	h.files.Open("/art/a.png")
	h.settle()
	if h.c.session.Document() == nil {
		h.tb.Fatal("no picture was opened")
	}
	return h
}

// dialogTexts returns the texts of the dialog on top.
func (h *harness) dialogTexts() string {
	top := h.win.Canvas().Overlays().Top()
	if top == nil {
		return ""
	}
	var all []string
	for _, l := range uitest.Find[*widget.Label](top) {
		all = append(all, l.Text)
	}
	return strings.Join(all, "\n")
}

// press taps the button with the given text in the dialog on top.
func (h *harness) press(text string) {
	h.tb.Helper()
	top := h.win.Canvas().Overlays().Top()
	for _, b := range uitest.Find[*xwidget.Button](top) {
		if b.Text == text {
			test.Tap(b)
			return
		}
	}
	// The toolkit's own dialogs have its own buttons.
	for _, b := range uitest.Find[*widget.Button](top) {
		if b.Text == text {
			test.Tap(b)
			return
		}
	}
	h.tb.Fatalf("no button %q", text)
}

func TestOpenAndDetect(t *testing.T) {
	h := newHarness(t, "en").opened()
	if h.win.Title() != "a.png – Blik" {
		t.Errorf("title %q", h.win.Title())
	}
	if h.c.session.Settings().Recent[0] != "/art/a.png" {
		t.Errorf("recent files %v", h.c.session.Settings().Recent)
	}
	h.k.toolbox.SetRegion(&processing.Region{Points: []processing.Point{{X: 0, Y: 0}, {X: 150, Y: 80}}})
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF5})
	if !h.panel.progress.Row.Visible() || h.panel.steps.Visible() {
		t.Error("a running job is not shown")
	}
	h.settle()
	if h.searched == nil || h.detected.Mode != processing.Adaptive {
		t.Errorf("detection ran with %+v in %v", h.detected, h.searched)
	}
	if got := h.status.found.Text(); got != "2 findings, 6 px, 0.03 %" {
		t.Errorf("status %q", got)
	}
	if h.panel.progress.Row.Visible() || !h.panel.steps.Visible() {
		t.Error("the job has ended but is still shown")
	}
	if !h.panel.detection.chosenBox.Visible() || len(h.panel.detection.chosen.Objects) != 1 {
		t.Error("what adaptive mode chose is not shown")
	}
	if rows, _ := h.panel.findings.table.Length(); rows != 2 {
		t.Errorf("%d findings listed", rows)
	}
	if !strings.HasPrefix(h.win.Title(), "• ") {
		t.Errorf("title %q does not mark the unsaved mask", h.win.Title())
	}
	h.k.actions.do("edit.undo")
	if h.panel.detection.chosenBox.Visible() {
		t.Error("what adaptive mode chose is shown after the detection was undone")
	}
	h.k.actions.do("edit.redo")
	if !h.panel.detection.chosenBox.Visible() {
		t.Error("what adaptive mode chose is not shown again")
	}
}

// Undo takes the sliders back, and the status bar says when manual mode ends with its picture.
func TestParametersFollowThePicture(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do(findRun)
	h.settle()
	p := h.c.session.Settings().Params
	p.Mode, p.Sensitivity = processing.Manual, 1
	h.c.preview.SetParams(p)
	h.settle()
	h.k.actions.do(editUndo)
	if shown := h.panel.detection.form.Params(); shown.Mode != processing.Adaptive {
		t.Errorf("undone, the panel shows mode %v", shown.Mode)
	}
	h.c.preview.SetParams(p)
	h.settle()
	h.c.store.Open("/art/a.png", func(error) {})
	h.settle()
	h.files.Open("/art/b.tif")
	h.settle()
	want := ". Adaptive mode again: the manual values were for a.png"
	if text := h.status.message.Text(); !strings.HasSuffix(text, want) {
		t.Errorf("the status bar says %q", text)
	}
	if shown := h.panel.detection.form.Params(); shown.Mode != processing.Adaptive || shown.Sensitivity != 1 {
		t.Errorf("the panel shows mode %v, sensitivity %g", shown.Mode, shown.Sensitivity)
	}
}

func TestCancel(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.block.Store(true)
	h.k.actions.do("find.run")
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyEscape})
	h.settle()
	if h.status.message.Text() != "Cancelled" || h.dialogOpen() || h.c.session.Document().Stats().Area != 0 {
		t.Errorf("status %q, dialog %q", h.status.message.Text(), h.dialogTexts())
	}
}

func TestTakeOver(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("find.takeOver")
	if p := h.panel.detection.form.Params(); p != h.result.Params {
		t.Errorf("the form holds %+v, detection used %+v", p, h.result.Params)
	}
	h.k.actions.do("find.run")
	h.settle()
	if h.detected != h.result.Params {
		t.Errorf("detected again with %+v, want %+v", h.detected, h.result.Params)
	}
}

func TestSaveMask(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.dialogs.path = "/art/out.png"
	h.k.actions.do("file.saveMask")
	h.settle()
	if r := h.dialogs.asked[0]; r.Folder != "/art" || r.File != "a_mask.png" {
		t.Errorf("offered %+v", r)
	}
	if m := h.masks["/art/out.png"]; m == nil || m.Area() != 6 {
		t.Error("the mask was not written")
	}
	if h.c.session.Document().Dirty() || h.win.Title() != "a.png – Blik" {
		t.Errorf("after saving the title is %q", h.win.Title())
	}
	h.k.actions.do("edit.clear")
	h.k.actions.do("file.saveMask")
	h.settle()
	if len(h.dialogs.asked) != 1 || h.masks["/art/out.png"].Area() != 0 {
		t.Error("saving again asked for a file, or did not save")
	}
}

func TestFailedSaveLosesNothing(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("edit.invert")
	h.writeErr = errors.New("disk full")
	h.dialogs.path = "/art/out.png"
	h.k.actions.do("file.saveMask")
	h.settle()
	if said := h.dialogTexts(); !strings.Contains(said, "disk full") || !strings.Contains(said, "Could not save the mask") {
		t.Errorf("the dialog says %q", said)
	}
	if !h.c.session.Document().Dirty() || h.c.session.Document().Mask().Area() != 200*100 {
		t.Error("a failed save changed the document")
	}
}

func TestUnsavedMaskIsAskedAbout(t *testing.T) {
	for name, c := range map[string]struct {
		press string
		open  string
		saved bool
	}{
		"save":        {"Save mask", "/art/b.tif", true},
		"do not save": {"Don't save", "/art/b.tif", false},
		"cancel":      {"Cancel", "/art/a.png", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, "en").opened()
			h.k.actions.do("edit.invert")
			h.dialogs.path = "/art/mask.png"
			h.files.Open("/art/b.tif")
			if !strings.Contains(h.dialogTexts(), "a.png") {
				t.Fatalf("the dialog says %q", h.dialogTexts())
			}
			h.press(c.press)
			h.settle()
			if h.c.session.Document().Path() != c.open || (h.masks["/art/mask.png"] != nil) != c.saved {
				t.Errorf("%s is open, saved %v", h.c.session.Document().Path(), h.masks)
			}
		})
	}
}

func TestErrorsAreShownOnceAndLoseNothing(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("edit.invert")
	h.dialogs.path = "/art/other.png"
	h.masks["/art/other.png"] = processing.NewMask(3, 3)
	h.k.actions.do("file.loadMask")
	h.settle()
	if got := h.dialogTexts(); !strings.Contains(got, "another size") {
		t.Errorf("the dialog says %q", got)
	}
	if n := len(h.win.Canvas().Overlays().List()); n != 1 {
		t.Errorf("%d dialogs", n)
	}
	if said := h.dialogTexts(); !strings.Contains(said, "Could not load the mask") {
		t.Errorf("the dialog says %q", said)
	}
	h.press("OK")
	if h.c.session.Document().Mask().Area() != 200*100 {
		t.Error("a mask that could not be loaded changed the mask")
	}

	h.c.session.Document().MarkSaved(h.c.session.Document().Generation())
	h.c.session.Settings().AddRecent("/art/gone.png")
	h.files.Open("/art/gone.png")
	h.settle()
	if said := h.dialogTexts(); h.c.session.Document().Path() != "/art/a.png" || !strings.Contains(said, "gone.png") ||
		!strings.Contains(said, "Could not open the picture") {
		t.Errorf("%s is open, the dialog says %q", h.c.session.Document().Path(), said)
	}
	if slices.Contains(h.c.session.Settings().Recent, "/art/gone.png") {
		t.Error("a missing file is still among the recent ones")
	}
}

func TestRegionOutside(t *testing.T) {
	h := newHarness(t, "ru").opened()
	h.k.toolbox.SetRegion(&processing.Region{Points: []processing.Point{{X: -50, Y: -50}, {X: -10, Y: -10}}})
	if h.c.session.Document().Region() != nil || h.status.message.Text() != "Область лежит вне изображения." {
		t.Errorf("region %v, status %q", h.c.session.Document().Region(), h.status.message.Text())
	}
}

func TestUndo(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("edit.clear")
	h.k.actions.do("edit.undo")
	if h.c.session.Document().Stats().Spots != 2 {
		t.Error("undo did not restore the mask")
	}
	h.k.actions.do("edit.redo")
	if h.c.session.Document().Stats().Spots != 0 {
		t.Error("redo did not clear the mask")
	}
}

// The driver gives Ctrl+Z to the menu first, but a focused field must get it.
func TestUndoOfTyping(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("edit.invert")
	field := uitest.Find[*xwidget.NumberEntry](h.panel.object)[0]
	h.win.Canvas().Focus(field)
	before := field.Text
	test.Type(field, "7")
	if field.Text == before {
		t.Fatal("typing had no effect")
	}
	h.k.actions.do("edit.undo")
	if field.Text != before {
		t.Errorf("the field contains %q, before typing %q", field.Text, before)
	}
	if h.c.session.Document().Stats().Area == 0 {
		t.Error("undo of typing undid a step of the mask")
	}
}

func TestPickAndStepThroughFindings(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.k.toolbox.toggle(processing.Point{X: 21.5, Y: 10.5}, 1)
	if h.c.session.Document().Stats().Spots != 1 {
		t.Error("a click did not remove the finding")
	}
	h.k.toolbox.toggle(processing.Point{X: 21.5, Y: 11.6}, 1)
	if h.c.session.Document().Stats().Spots != 2 {
		t.Error("a click beside it did not restore the finding")
	}
	h.k.toolbox.toggle(processing.Point{X: 60, Y: 60}, 1)
	if h.c.session.Document().Stats().Spots != 2 {
		t.Error("a click on nothing changed something")
	}

	h.k.actions.do("find.next")
	h.k.actions.do("find.next")
	if s, ok := h.c.session.Document().Selected(); !ok || s.ID != 2 {
		t.Errorf("finding %d is selected", s.ID)
	}
	if z := h.k.display.port.Transform().Zoom; z < 1 {
		t.Errorf("a finding is shown at zoom %g", z)
	}
	h.k.actions.do("find.remove")
	if h.c.session.Document().Stats().Spots != 1 {
		t.Error("the selected finding was not removed")
	}
	h.k.actions.do("edit.undo")
	h.k.actions.do("find.previous")
	if h.c.session.Document().Stats().Spots != 2 {
		t.Error("undo did not restore the finding")
	}
}

func TestPreset(t *testing.T) {
	h := newHarness(t, "en")
	h.dialogs.path = filepath.Join(t.TempDir(), "mine.json")
	p := processing.DefaultParams()
	p.Mode, p.Margin, p.Sensitivity = processing.Manual, 3, -0.5
	h.c.preview.SetParams(p)
	h.k.actions.do("file.savePreset")
	if got, _, err := preset.Read(h.dialogs.path); err != nil || got != p {
		t.Fatalf("saved %+v, %v", got, err)
	}
	h.c.preview.SetParams(processing.DefaultParams())
	h.k.actions.do("file.loadPreset")
	if h.panel.detection.form.Params() != p || h.c.session.Settings().Params != p {
		t.Errorf("loaded %+v", h.c.session.Settings().Params)
	}

	newer := filepath.Join(t.TempDir(), "newer.json")
	if err := os.WriteFile(newer, []byte(`{"format":"blik preset","version":99,"values":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.files.Dropped(fyne.Position{}, []fyne.URI{storage.NewFileURI(newer)})
	if !strings.Contains(h.dialogTexts(), "newer.json") || h.c.session.Settings().Params != p {
		t.Errorf("a preset of a newer version: the dialog says %q", h.dialogTexts())
	}
}

func TestDrop(t *testing.T) {
	h := newHarness(t, "en")
	h.files.Dropped(fyne.Position{}, []fyne.URI{storage.NewFileURI("/art/b.tif"), storage.NewFileURI("/art/a.png")})
	h.settle()
	if h.c.session.Document() == nil || h.c.session.Document().Path() != "/art/b.tif" {
		t.Error("the first file dropped was not opened")
	}
}

// Letters run their actions on both keyboards, but not while a dialog is open.
func TestLetters(t *testing.T) {
	h := newHarness(t, "en").opened()
	for _, c := range []struct {
		rune rune
		tool string
	}{{'b', "tool.brush"}, {'у', "tool.eraser"}, {'м', "tool.pick"}, {'R', "tool.rectangle"}, {'Щ',
		"tool.ellipse"}, {'д', "tool.polygon"}, {'h', "tool.pan"}} {
		h.k.keys.Rune(c.rune)
		if h.k.toolbox.current.ID != c.tool || !h.strip.buttons[c.tool].Selected() ||
			h.bar.tool.Text() != h.k.name(c.tool) {
			t.Errorf("%c selects %s, want %s", c.rune, h.k.toolbox.current.ID, c.tool)
		}
	}
	r := h.c.session.Settings().BrushRadius
	h.k.keys.Rune('ъ')
	if h.c.session.Settings().BrushRadius <= r {
		t.Error("ъ does not make the brush larger")
	}
	h.k.keys.Rune('[')
	h.k.keys.Rune('х')
	if h.c.session.Settings().BrushRadius >= r {
		t.Error("[ and х do not make the brush smaller")
	}
	h.pages.showAbout()
	h.k.keys.Rune('b')
	if h.k.toolbox.current.ID != "tool.pan" {
		t.Error("a letter reached the tools behind a dialog")
	}
	h.k.actions.do("edit.invert")
	if h.c.session.Document().Dirty() {
		t.Error("a shortcut changed the mask behind a dialog")
	}
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if h.dialogOpen() {
		t.Error("Escape does not close a dialog")
	}
}

// Both letters of a key run the same action.
func TestRussianKeysLieWhereTheLatinOnesDo(t *testing.T) {
	h := newHarness(t, "en")
	const latin, russian = "qwertyuiop[]asdfghjkl;'zxcvbnm,.", "йцукенгшщзхъфывапролджэячсмитьбю"
	k := h.k.keys.(*keyboard)
	seen := 0
	for i, r := range []rune(russian) {
		if l := rune(latin[i]); k.runes[l] != k.runes[r] {
			t.Errorf("%c runs %q, %c runs %q", r, k.runes[r], l, k.runes[l])
		} else if k.runes[r] != "" {
			seen++
		}
	}
	if seen < 15 {
		t.Errorf("%d Russian keys", seen)
	}
}

func TestLanguageSwitch(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("tool.brush")
	h.panel.tabs.SelectIndex(correctionTab)
	h.setLanguage("ru")
	if h.panel.tabs.SelectedIndex() != correctionTab {
		t.Errorf("tab %d is in front after the switch", h.panel.tabs.SelectedIndex())
	}
	if h.panel.run.Text != "Найти блики" || h.win.MainMenu().Items[0].Label != "Файл" {
		t.Errorf("after the switch: %q, %q", h.panel.run.Text, h.win.MainMenu().Items[0].Label)
	}
	if got := h.status.found.Text(); got != "2 находки, 6 пкс, 0,03 %" {
		t.Errorf("status %q", got)
	}
	if !h.strip.buttons["tool.brush"].Selected() || h.c.session.Settings().Language != "ru" {
		t.Error("the switch reset the tool or the language")
	}
	if z := h.bar.zoom.Text; z == "" {
		t.Error("the zoom is not shown after the switch")
	}
	h.setLanguage("en")
	if h.panel.run.Text != "Find glare" {
		t.Errorf("back in English: %q", h.panel.run.Text)
	}
}

func TestZoomBox(t *testing.T) {
	testpic.NoRace(t)
	h := newHarness(t, "en")
	if !h.bar.zoom.Disabled() || h.bar.zoom.Text != "" {
		t.Error("without a picture the zoom can be typed")
	}
	h.opened()
	if h.bar.zoom.Disabled() {
		t.Error("the zoom of an open picture cannot be typed")
	}
	type_ := func(text string) {
		h.bar.zoom.SetText("")
		h.win.Canvas().Focus(h.bar.zoom)
		h.bar.zoom.SetText(text)
		h.win.Canvas().Unfocus()
	}
	for text, want := range map[string]float64{"250": 2.5, "33,5 %": 0.335, " 400% ": 4} {
		type_(text)
		if z := h.k.display.port.Transform().Zoom; z != want {
			t.Errorf("%q shows zoom %g", text, z)
		}
	}
	type_("nonsense")
	if z := h.k.display.port.Transform().Zoom; z <= 0 || h.bar.zoom.Text != h.k.words.Percent(z) {
		t.Errorf("after nonsense the zoom is %g, shown as %q", z, h.bar.zoom.Text)
	}
	h.bar.zoom.SetText("Fit")
	if !h.k.display.port.Fitted() {
		t.Error("choosing Fit does not fit")
	}
	h.bar.zoom.SetText("200\u00a0%")
	if z := h.k.display.port.Transform().Zoom; z != 2 {
		t.Errorf("choosing 200 %% shows %g", z)
	}
	h.win.Canvas().Focus(h.bar.zoom)
	h.bar.zoom.SetText("999")
	h.bar.zoom.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if z := h.k.display.port.Transform().Zoom; z != 2 || h.win.Canvas().Focused() != nil {
		t.Errorf("Escape shows %g, and the focus is on %v", z, h.win.Canvas().Focused())
	}
}

// A function key that is pressed in a field takes the input and does what it does elsewhere.
func TestFunctionKeysInFields(t *testing.T) {
	h := newHarness(t, "en").opened()
	field := uitest.Find[*xwidget.NumberEntry](h.panel.detection.object)[0]
	h.win.Canvas().Focus(field)
	field.SetText("1")
	field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyF5})
	h.settle()
	if h.detected.Sensitivity != 1 || h.win.Canvas().Focused() != nil {
		t.Errorf("F5 in a field searched with %+v", h.detected)
	}
	h.win.Canvas().Focus(h.bar.zoom)
	h.bar.zoom.SetText("300")
	h.bar.zoom.TypedKey(&fyne.KeyEvent{Name: fyne.KeyF6})
	h.settle()
	if z := h.k.display.port.Transform().Zoom; z != 3 || !h.c.session.Corrected() {
		t.Errorf("F6 in the zoom box shows %g, corrected %v", z, h.c.session.Corrected())
	}
}

// Every action has a text, and every shortcut belongs to one action.
func TestActions(t *testing.T) {
	h := newHarness(t, "en")
	shortcuts := map[string]string{}
	hidden := []string{"escape", "region.finish", "region.back", "scroll.left", "scroll.right", "scroll.up",
		"scroll.down"}
	for id, a := range h.k.actions.table {
		if !slices.Contains(hidden, id) && h.k.actions.table[id].name == "" {
			t.Errorf("%s has no text", id)
		}
		if a.shortcut == nil {
			continue
		}
		if other := shortcuts[a.shortcut.ShortcutName()]; other != "" {
			t.Errorf("%s and %s have the same shortcut", id, other)
		}
		shortcuts[a.shortcut.ShortcutName()] = id
		// The driver turns these into shortcuts of its own, so a custom one never fires.
		if c, ok := a.shortcut.(*desktop.CustomShortcut); ok && c.Modifier == ctrl &&
			strings.ContainsAny(string(c.KeyName), "ZYCXVA") {
			t.Errorf("%s: Ctrl+%s never arrives as a custom shortcut", id, c.KeyName)
		}
	}
	// Without a picture no action may fail.
	for id := range h.k.actions.table {
		if id != "file.quit" {
			h.k.actions.do(id)
		}
		for h.dialogOpen() {
			h.win.Canvas().Overlays().Remove(h.win.Canvas().Overlays().Top())
		}
	}
	h.settle()
}

// The menu contains every action that has a text.
func TestMenu(t *testing.T) {
	testpic.NoRace(t)
	h := newHarness(t, "en").opened()
	in := map[string]bool{}
	var walk func(items []*fyne.MenuItem)
	walk = func(items []*fyne.MenuItem) {
		for _, i := range items {
			name, _, _ := strings.Cut(i.Label, "\t")
			in[name] = true
			if i.ChildMenu != nil {
				walk(i.ChildMenu.Items)
			}
		}
	}
	for _, m := range h.win.MainMenu().Items {
		walk(m.Items)
	}
	for id := range h.k.actions.table {
		if text := h.k.t(h.k.actions.table[id].name); text != "" && !in[text] {
			t.Errorf("%q is not in the menu", text)
		}
	}
	for _, want := range []string{"English", "Русский", "Neutral grey", "Red", "/art/a.png"} {
		if !in[want] {
			t.Errorf("%q is not in the menu", want)
		}
	}
}

func TestPixelText(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.status.hovered(processing.Point{X: 10.9, Y: 20.1}, true)
	if h.status.place.Text() != "x 10  y 20" || h.status.values.Text() != "R 100  G 100  B 100" {
		t.Errorf("%q %q", h.status.place.Text(), h.status.values.Text())
	}
	h.status.hovered(processing.Point{X: -1, Y: 20}, true)
	if h.status.place.Text() != "" || h.status.values.Text() != "" {
		t.Errorf("beside the picture: %q %q", h.status.place.Text(), h.status.values.Text())
	}
}

func TestSettingsFollow(t *testing.T) {
	h := newHarness(t, "en").opened()
	h.k.display.setOpacity(0.25)
	h.k.toolbox.setBrushRadius(7.5)
	h.bar.hardness.SetValue(0.7)
	s := *h.c.session.Settings()
	if s.OverlayOpacity != 0.25 || s.BrushRadius != 7.5 || s.BrushSoftness != 0.3 {
		t.Errorf("%+v", s)
	}
	if h.bar.sizeEntry.Text != "15" || h.k.display.port.Options().Opacity != 0.25 {
		t.Errorf("the bar shows a brush of %q, the overlay %g", h.bar.sizeEntry.Text, h.k.display.port.Options().Opacity)
	}
}

// Files that are not pictures are refused in one sentence that names them, in the window's language, and do not affect
// the open picture.
func TestMalformedFiles(t *testing.T) {
	files := testpic.SharedFiles(t, "malformed/*")
	h := (&harness{tb: t, queue: make(chan func(), 1000), fakeDevice: &fakeDevice{}, dialogs: &fakeDialogs{}}).start(
		real(), "ru")
	refused := 0
	for _, file := range files {
		// An empty picture of 400 MP is within the limits; opening it takes its time.
		if filepath.Base(file) == "bomb_png_20000x20000_1bit.png" {
			continue
		}
		before := h.c.session.Document()
		h.files.Open(file)
		h.settle()
		said := h.dialogTexts()
		if h.c.session.Document() != before {
			if said != "" {
				t.Errorf("%s was opened, and the dialog says %q", filepath.Base(file), said)
			}
			continue
		}
		refused++
		if !strings.Contains(said, filepath.Base(file)) || !strings.ContainsAny(said,
			"абвгдежзиклмнопрстуфхцчшщыьэюя") {
			t.Errorf("%s: the dialog says %q", filepath.Base(file), said)
		}
		h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyEscape})
		if h.dialogOpen() {
			t.Fatalf("%s: the dialog stays", filepath.Base(file))
		}
	}
	if refused < 10 {
		t.Errorf("%d of %d malformed files refused", refused, len(files))
	}
}
