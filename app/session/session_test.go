package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/job"
	"blik/app/report"
	"blik/app/session"
	"blik/app/session/analysis"
	"blik/app/session/editor"
	"blik/app/session/film"
	"blik/app/session/findings"
	"blik/app/session/glare"
	"blik/app/session/preview"
	"blik/app/session/store"
	"blik/app/settings"
	"blik/app/thumbnail"
	"blik/app/work"
	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// fake is a session with all its parts, with made-up files and results. Its callbacks run on the test's goroutine.
type fake struct {
	*session.Session
	*editor.Editor
	*findings.Findings
	*findings.Learner
	*glare.Glare
	*preview.Preview
	*film.Film
	*store.Store
	*analysis.Analysis
	t     *testing.T
	queue chan func()
	// changes are those since the last call of changed.
	changes []session.Change
	saved   []string
	masks   map[string]*processing.Mask
	reports []report.Correction
	hold    chan struct{}
	saveErr error
	exists  bool
	// settled is called when the session asks to complete what the user is drawing; held says whether the queue is held.
	// announced is called for the end of a preview. Each may be nil.
	settled   func()
	held      func() bool
	announced func(glare.Outcome, error)
	// dead is set when the session was closed.
	dead bool
}

// made are the parts of a fake that a test may replace.
type made struct {
	engine session.Engine
	// parts searches the visible part; nil for engine.
	parts   session.Engine
	store   store.Options
	preview preview.Options
}

func newFake(t *testing.T, replace ...func(m *made)) *fake {
	t.Helper()
	chosen := settings.Default()
	f := &fake{t: t, queue: make(chan func(), 1000), masks: map[string]*processing.Mask{}}
	m := made{engine: engineOf{}, store: store.Options{Files: files{f}, Version: "1.2.3"}}
	for _, r := range replace {
		r(&m)
	}
	if m.parts == nil {
		m.parts = m.engine
	}
	f.Session = session.New(session.Options{
		Settings: &chosen, Dispatch: func(do func()) { f.queue <- do },
		Settle: func() {
			if f.settled != nil {
				f.settled()
			}
		},
		Hold: func() bool { return f.held != nil && f.held() },
	})
	m.preview.Announce = func(o glare.Outcome, err error) {
		if f.announced != nil {
			f.announced(o, err)
		}
	}
	f.Store = store.New(f.Session, m.store)
	f.Film = film.New(f.Session, film.Options{
		Store: f.Store, Files: m.store.Files, Engine: m.engine, Version: m.store.Version,
	})
	f.Editor, f.Findings = editor.New(f.Session), findings.New(f.Session)
	f.Learner, f.Glare = findings.NewLearner(f.Session, m.engine), glare.New(f.Session, m.engine)
	f.Preview = preview.New(f.Session, f.Glare, m.parts, m.preview)
	f.Analysis = analysis.New(f.Session, m.engine, m.store.Files)
	f.Subscribe(func(c session.Change) {
		f.changes = append(f.changes, c)
		f.PlaceholderShown()
	})
	t.Cleanup(f.die)
	return f
}

// die closes the session. Without Forget its journal stays, as if the program were killed.
func (f *fake) die() {
	f.t.Helper()
	if f.dead {
		return
	}
	f.dead = true
	if err := f.Close(context.Background()); err != nil {
		f.t.Error(err)
	}
}

// files are the Files of a fake.
type files struct{ *fake }

func (f files) ReadPreview(context.Context, string, int) (*imagefile.Preview, error) { return nil, nil }

func (f files) Read(ctx context.Context, path string) (*imagefile.File, error) {
	if f.hold != nil {
		select {
		case <-f.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	format := map[string]imagefile.Format{".png": imagefile.PNG, ".jpg": imagefile.JPEG}[filepath.Ext(path)]
	if format == "" {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	pic := testpic.Flat(40, 30, 3, 100)
	return &imagefile.File{Path: path, Format: format, Depth: 8, Orientation: 1, Mode: 0o640, Picture: pic}, nil
}

func (f files) ReadMask(_ context.Context, path string, w, h int, _ bool) (*processing.Mask, error) {
	return f.masks[path], nil
}

func (f files) WriteMask(_ context.Context, path string, m *processing.Mask, _ imagefile.WriteOptions) error {
	f.masks[path] = m
	return nil
}

func (f files) Save(_ context.Context, c report.Correction, path, lang string, o imagefile.SaveOptions) (work.Written, error) {
	if f.exists && !o.Overwrite {
		return work.Written{}, &imagefile.Error{Path: path, Kind: imagefile.ErrExists}
	}
	if f.saveErr != nil {
		return work.Written{}, f.saveErr
	}
	f.saved = append(f.saved, path)
	w := work.Written{Saved: &imagefile.Saved{Path: path, State: "as saved"}}
	if lang != "" {
		c.Saved = w.Saved
		f.reports = append(f.reports, c)
		w.Report = path + "." + lang + ".html"
	}
	return w, nil
}

// engineOf detects two glints and corrects findings to zeros.
type engineOf struct{}

func (engineOf) Search(context.Context, *processing.Picture, detect.Options) (
	*detect.Table, *message.Message, error,
) {
	return nil, nil, nil
}

func (engineOf) Inspect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.LayerOptions) (
	*detect.LayerMap, error,
) {
	return detect.Inspect(ctx, cpu.New(), pic, p, o)
}

func (engineOf) Levels(ctx context.Context, pic *processing.Picture, region *processing.Region) (
	all, inside []uint64, err error,
) {
	return detect.LevelHistogram(ctx, cpu.New(), pic, region)
}

func (engineOf) Detect(_ context.Context, pic *processing.Picture, p processing.Params, o detect.Options) (
	*detect.Result, *message.Message, error,
) {
	r := &detect.Result{}
	r.Device, r.Mask, r.Params = "fake", processing.NewMask(pic.Width, pic.Height), p
	for id, at := range []image.Point{{X: 5, Y: 4}, {X: 30, Y: 20}} {
		r.Mask.Pix[at.Y*pic.Width+at.X] = 255
		r.Findings = append(r.Findings, detect.Finding{ID: id + 1, Left: at.X, Top: at.Y, Width: 1, Height: 1,
			Area: 1,
			Runs: []processing.Run{{Y: at.Y, X0: at.X, X1: at.X + 1}}})
	}
	return r, nil, nil
}

func (engineOf) Correct(_ context.Context, pic *processing.Picture, _ *processing.Mask, _ processing.Params,
	o correct.Options,
) (*correct.Correction, *message.Message, error) {
	c := &correct.Correction{Device: "fake"}
	for _, s := range o.Spots {
		n := processing.Pixels(s.Runs)
		c.Patches = append(c.Patches, processing.Patch{Spot: s.ID, Method: processing.MethodSubtract, Runs: s.Runs,
			U8: bytes.Repeat([]byte{7}, n*pic.Channels)})
	}
	return c, nil, nil
}

// settle runs callbacks until no job is left.
func (f *fake) settle() {
	f.t.Helper()
	for f.Busy() {
		(<-f.queue)()
	}
}

// ok fails the test if a job has an error.
func (f *fake) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Error(err)
	}
}

// rooted returns a path that is absolute on every system.
func rooted(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

func (f *fake) opened(path string) *fake {
	f.t.Helper()
	f.Open(path, f.ok)
	f.settle()
	f.changed()
	return f
}

// until runs what is dispatched until a condition holds.
func (f *fake) until(holds func() bool) {
	for !holds() {
		(<-f.queue)()
	}
}

// showDocument makes a document the open one.
func (f *fake) showDocument(d *document.Document) { f.Show(session.Open{Doc: d}) }

// outcome receives the outcome of a job that must succeed.
func (f *fake) outcome(_ glare.Outcome, err error) { f.ok(err) }

// middle is the centre of the picture.
func (f *fake) middle() processing.Point {
	size := f.Document().Size()
	return processing.Point{X: float64(size.X) / 2, Y: float64(size.Y) / 2}
}

// changed returns the names of what has changed since its last call.
func (f *fake) changed() string {
	var names []string
	add := func(name string, on bool) {
		if on && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, c := range f.changes {
		add("pixels", !c.Pixels.Empty())
		add("document", c.Document)
		add("mask", c.Mask)
		add("corrections", c.Corrections)
		add("result", c.Result)
		add("region", c.Region)
		add("selection", c.Selection)
		add("history", c.History)
		add("saved", c.Saved)
		add("params", c.Params)
		add("recent", c.Recent)
	}
	f.changes = nil
	slices.Sort(names)
	return strings.Join(names, " ")
}

// A listener that updates only what a Change names is never out of date.
func TestChanges(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	at := processing.Point{X: 10.5, Y: 10.5}
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"open", func() { f.Open("/a.png", f.ok) }, "corrections document mask recent"},
		{"detect", func() { f.Detect(f.outcome) }, "history mask pixels result saved"},
		{"begin a stroke", func() { f.BeginStroke(document.Brush{Radius: 1}, at) }, "pixels"},
		{"paint on", func() { f.StrokeTo(processing.Point{X: 13, Y: 10.5}) }, "pixels"},
		{"end the stroke", f.EndStroke, "history mask"},
		{"correct", func() { f.CorrectAll(f.outcome) }, "corrections history saved"},
		{"select", func() { f.SelectNext(1) }, "selection"},
		{"correct otherwise", func() { f.CorrectSelected(processing.MethodExemplar, f.outcome) }, "corrections history selection"},
		{"undo", func() { f.Undo() }, "corrections history selection"},
		{"redo", func() { f.Redo() }, "corrections history selection"},
		{"remove", func() { f.RemoveSelected() }, "corrections history mask pixels selection"},
		{"put back", func() { f.Toggle(processing.Point{X: 5.5, Y: 4.5}, 0) }, "history mask pixels selection"},
		{"region", func() {
			f.ok(f.SetRegion(&processing.Region{Points: []processing.Point{{}, {X: 9, Y: 9}}}))
		}, "history region"},
		{"parameters", func() { f.ok(f.SetParam(testpic.Spec(t, "halo"), 7)) }, "params"},
		{"the same parameters", func() { f.ok(f.SetParam(testpic.Spec(t, "halo"), 7)) }, ""},
		{"save the mask", func() { f.SaveMask("/m.png", false, f.ok) }, "saved"},
		{"save the picture", func() { f.SavePicture("/b.png", "en", imagefile.SaveOptions{}, f.ok) }, "saved"},
		{"load the mask", func() { f.LoadMask("/m.png", false, f.ok) }, ""},
		{"clear", f.ClearMask, "corrections history mask pixels saved selection"},
		{"take over", f.TakeOver, "params"},
		{"open another", func() { f.Open("/c.png", f.ok) },
			"corrections document history mask params recent region result saved"},
	} {
		c.do()
		f.settle()
		if got := f.changed(); got != c.want {
			t.Errorf("%s: changed are %q, want %q", c.name, got, c.want)
		}
	}
}

// What the user is drawing becomes part of the document before anything else changes or reads it.
func TestSettle(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("/a.png")
	settled := 0
	f.settled = func() {
		settled++
		f.EndStroke()
	}
	for name, do := range map[string]func(){
		"detect": func() { f.Detect(f.outcome) }, "clear": f.ClearMask, "invert": f.InvertMask,
		"undo": func() { f.Undo() },
		"save": func() { f.SaveMask("/m.png", false, f.ok) },
	} {
		f.BeginStroke(document.Brush{Radius: 1}, processing.Point{X: 9, Y: 9})
		settled = 0
		do()
		f.settle()
		if settled == 0 || f.Document().Painting() {
			t.Errorf("%s: settled %d times, painting %v", name, settled, f.Document().Painting())
		}
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("/a.png")
	before := f.Document()
	f.Settings().AddRecent("/gone")
	var failed error
	f.Open("/gone", func(err error) { failed = err })
	f.settle()
	if !errors.Is(failed, fs.ErrNotExist) || f.Document() != before || slices.Contains(f.Settings().Recent, "/gone") {
		t.Errorf("%v, recent %v", failed, f.Settings().Recent)
	}
}

func TestOneJobAtATime(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("/a.png")
	f.Detect(f.outcome)
	var second error
	f.Detect(func(_ glare.Outcome, err error) { second = err })
	if !errors.Is(second, job.ErrBusy) {
		t.Error(second)
	}
	f.settle()
}

func TestNext(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	check := func(want store.Step, findings int) {
		t.Helper()
		f.settle()
		if step, n := f.Next(); step != want || n != findings {
			t.Errorf("step %d of %d findings, want %d of %d", step, n, want, findings)
		}
	}
	check(store.StepOpen, 0)
	f.opened("/a.png")
	check(store.StepDetect, 0)
	f.Detect(f.outcome)
	check(store.StepCorrect, 2)
	f.CorrectAll(f.outcome)
	check(store.StepSave, 2)
	f.SavePicture("/b.png", "en", imagefile.SaveOptions{}, f.ok)
	check(store.StepDone, 2)
	f.SavePicture(rooted("/a.png"), "en", imagefile.SaveOptions{Overwrite: true}, f.ok)
	check(store.StepOverwritten, 2)
	if len(f.Document().Spots()) != 2 || f.Corrected() || f.Written().Saved.Path != rooted("/a.png") {
		t.Error("the overwritten original was not opened again with its mask")
	}
	f.ClearMask()
	check(store.StepDetect, 0)
	f = newFake(t, func(m *made) { m.engine = clean{} }).opened("/a.png")
	f.Detect(f.outcome)
	check(store.StepClear, 0)
}

// What is painted while the original is being overwritten is in the mask when it is opened again.
func TestPaintingWhileOverwriting(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("/a.png")
	f.Detect(f.outcome)
	f.settle()
	f.CorrectAll(f.outcome)
	f.settle()
	f.SavePicture(rooted("/a.png"), "en", imagefile.SaveOptions{Overwrite: true}, f.ok)
	f.BeginStroke(document.Brush{Radius: 2}, processing.Point{X: 12, Y: 12})
	f.EndStroke()
	painted := slices.Clone(f.Document().Mask().Pix)
	f.settle()
	if f.Corrected() || !slices.Equal(f.Document().Mask().Pix, painted) {
		t.Error("the stroke is lost")
	}
}

// clean is an engine that finds nothing.
type clean struct{ engineOf }

func (clean) Detect(_ context.Context, pic *processing.Picture, p processing.Params, _ detect.Options) (
	*detect.Result, *message.Message, error,
) {
	r := &detect.Result{}
	r.Mask, r.Params = processing.NewMask(pic.Width, pic.Height), p
	return r, nil, nil
}

func TestSavePicture(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("/a.png")
	f.Detect(f.outcome)
	f.settle()
	f.CorrectAll(f.outcome)
	f.settle()
	path, o, ok := f.SaveTarget()
	if path != rooted("/a_corrected.png") || o.Overwrite || !ok {
		t.Fatalf("%s, %+v, %v", path, o, ok)
	}
	var got error
	save := func(o imagefile.SaveOptions) {
		f.SavePicture(path, "en", o, func(err error) { got = err })
		f.settle()
	}
	f.exists = true
	if save(o); !errors.Is(got, imagefile.ErrExists) || f.Written().Saved != nil {
		t.Errorf("an existing file: %v", got)
	}
	// Picture and report are saved both or not at all.
	f.saveErr = errors.New("disk full")
	if save(imagefile.SaveOptions{Overwrite: true}); got != f.saveErr || !f.Document().PictureDirty() {
		t.Errorf("a save that fails: %v", got)
	}
	f.saveErr = nil
	if save(imagefile.SaveOptions{Overwrite: true}); got != nil || f.Document().PictureDirty() {
		t.Errorf("a save that works: %v", got)
	}
	r := f.reports[0]
	if r.Program != "1.2.3" || r.Device != "fake" || len(r.Findings) != 2 || r.Mask.Area() != 2 || r.Date.IsZero() {
		t.Errorf("reported %+v", r)
	}
	if path, o, ok := f.SaveTarget(); path != rooted("/a_corrected.png") || !o.Overwrite || o.Expect != "as saved" || !ok {
		t.Errorf("saving again: %s, %+v, %v", path, o, ok)
	}
	f.Settings().WriteReport = false
	if save(imagefile.SaveOptions{Overwrite: true}); got != nil || len(f.reports) != 1 {
		t.Errorf("%v, %d reports", got, len(f.reports))
	}
	// For a JPEG the user has to choose another format first.
	if _, _, ok := f.opened("/a.jpg").SaveTarget(); ok {
		t.Error("a JPEG is saved without a question")
	}
}

func TestHit(t *testing.T) {
	t.Parallel()
	f := newFake(t).opened("/a.png")
	f.Detect(f.outcome)
	f.settle()
	for _, want := range []editor.Toggled{editor.Removed, editor.Restored} {
		if got := f.Toggle(processing.Point{X: 6.4, Y: 4.5}, 1); got != want {
			t.Errorf("a click beside a finding: %d, want %d", got, want)
		}
	}
	if f.Hit(processing.Point{X: 20, Y: 20}, 1) || f.Toggle(processing.Point{X: 20, Y: 20}, 1) != editor.Unchanged {
		t.Error("a click on nothing hits")
	}
}

// A picture that was opened has a thumbnail until it changes.
func TestThumbnail(t *testing.T) {
	t.Parallel()
	thumbs := &thumbnail.Cache{Folder: filepath.Join(t.TempDir(), "thumbnails")}
	f := newFake(t, func(m *made) { m.store.Thumbnails = thumbs })
	path := filepath.Join(t.TempDir(), "a.png")
	for _, content := range []string{"first", "another"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := f.Thumbnail(path); ok {
			t.Error("a thumbnail of a file that was not opened as it is")
		}
		f.opened(path)
		if m, ok := f.Thumbnail(path); !ok || m.Bounds().Dx() != 40 {
			t.Errorf("no thumbnail after opening: %v", m)
		}
	}
	if left, _ := os.ReadDir(thumbs.Folder); len(left) != 1 {
		t.Errorf("%d thumbnails of one file", len(left))
	}
}
