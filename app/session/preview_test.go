package session_test

import (
	"cmp"
	"context"
	"image"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"blik/app/device"
	"blik/app/document"
	"blik/app/session"
	"blik/app/session/glare"
	"blik/app/session/preview"
	"blik/app/view"
	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/lab/synth"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// onCPU runs jobs on the CPU.
type onCPU struct{ be processing.Backend }

func (o onCPU) Run(ctx context.Context, _ int, job device.Job) (*message.Message, error) {
	return nil, job(ctx, o.be)
}

// known is an engine with the network whose answers are known. While gated is set, detection announces itself and waits
// until it is let go or cancelled.
type known struct {
	session.Engine
	gated      atomic.Bool
	begun, let chan struct{}
}

func (k *known) Detect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.Options) (
	*detect.Result, *message.Message, error,
) {
	o.Network = testpic.Network()
	if k.gated.Load() {
		k.begun <- struct{}{}
		select {
		case <-k.let:
		case <-ctx.Done():
		}
	}
	return k.Engine.Detect(ctx, pic, p, o)
}

// searched returns a session with a small painting in which glare was detected, and its engine. Previews search the
// visible part first; empty if nothing is visible.
func searched(t *testing.T, visible image.Rectangle) (*fake, *known) {
	t.Helper()
	be := cpu.New()
	t.Cleanup(func() { be.Close() })
	engine := session.On(onCPU{be})
	k := &known{Engine: engine, begun: make(chan struct{}, 10), let: make(chan struct{})}
	s := newFake(t, func(m *made) {
		m.engine, m.parts = k, &known{Engine: engine}
		if !visible.Empty() {
			// In such a small picture the surroundings are most of it.
			m.preview = preview.Options{Visible: func() image.Rectangle { return visible }, PartShare: 1}
		}
	})
	strong, err := synth.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	strong.Density *= 6
	pic, err := synth.Paint(t.Context(), 180, 120, 8, synth.PaintOptions{Seed: 3, Scene: "coast"})
	if err == nil {
		pic, _, _, err = synth.RenderGlare(t.Context(), pic, strong)
	}
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document.New("/a.png", pic)
	if err != nil {
		t.Fatal(err)
	}
	pyramid, err := view.NewPyramid(t.Context(), pic)
	if err != nil {
		t.Fatal(err)
	}
	s.Show(session.Open{Doc: doc, Before: pyramid})
	s.Detect(s.outcome)
	s.rest()
	return s, k
}

// whole runs callbacks until detection in the whole picture begins.
func (f *fake) whole(k *known) {
	for {
		select {
		case <-k.begun:
			return
		case do := <-f.queue:
			do()
		}
	}
}

// rest runs callbacks until no job is left.
func (f *fake) rest() {
	for f.Busy() {
		(<-f.queue)()
	}
}

func (f *fake) sensitivity(v float64) {
	p := f.Settings().Params
	p.Sensitivity = v
	f.SetParams(p)
}

// While the sensitivity changes, the mask is that of a detection with it, and one undo reverts all of it.
func TestPreview(t *testing.T) {
	s, _ := searched(t, image.Rectangle{})
	pic := s.Document().Picture()
	first := slices.Clone(s.Document().Mask().Pix)
	previews := 0
	s.announced = func(_ glare.Outcome, err error) {
		previews++
		if err != nil {
			t.Error(err)
		}
	}
	for _, v := range []float64{-1, -2, 3, -4} {
		s.sensitivity(v)
		if !s.Previewing() {
			t.Fatalf("sensitivity %g does not show", v)
		}
	}
	queued := false
	if !s.AfterPreview(func() { queued = true }) {
		t.Error("nothing can be queued")
	}
	s.rest()
	if !queued || previews < 2 || previews > 4 || s.AfterPreview(func() {}) {
		t.Errorf("queued %v, %d previews", queued, previews)
	}
	be := cpu.New()
	defer be.Close()
	want, err := detect.Detect(t.Context(), be, pic, s.Settings().Params, detect.Options{Network: testpic.Network()})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Document().Mask().Pix, want.Mask.Pix) || slices.Equal(first, want.Mask.Pix) {
		t.Error("the mask shown is not that of the sensitivity")
	}
	s.Undo()
	if !slices.Equal(s.Document().Mask().Pix, first) {
		t.Error("one step does not take back what moving the slider did")
	}
	s.Redo()
	if !slices.Equal(s.Document().Mask().Pix, want.Mask.Pix) {
		t.Error("redo does not bring it back")
	}
}

// What was changed during a search is followed after it.
func TestParametersChangeDuringASearch(t *testing.T) {
	s, k := searched(t, image.Rectangle{})
	s.sensitivity(2)
	s.rest()
	want := slices.Clone(s.Document().Mask().Pix)
	s.sensitivity(-3)
	s.rest()
	k.gated.Store(true)
	s.Detect(s.outcome)
	<-k.begun
	s.sensitivity(2)
	k.gated.Store(false)
	k.let <- struct{}{}
	s.rest()
	if !slices.Equal(s.Document().Mask().Pix, want) {
		t.Error("the mask is not that of the sensitivity")
	}
}

// The visible part follows the sensitivity at once, before any job has run, and shows what the whole picture will.
func TestDecisionShowsAtOnce(t *testing.T) {
	visible := image.Rect(40, 30, 130, 90)
	s, _ := searched(t, visible)
	pic := s.Document().Picture()
	was, changed := slices.Clone(s.Document().Mask().Pix), 0
	for _, v := range []float64{-1, -3, 2, 0.5} {
		s.sensitivity(v)
		shown := slices.Clone(s.Document().Mask().Pix)
		be := cpu.New()
		want, err := detect.Detect(t.Context(), be, pic, s.Settings().Params, detect.Options{Network: testpic.Network()})
		if err != nil {
			t.Fatal(err)
		}
		be.Close()
		for k, v := range shown {
			expected := was[k]
			if image.Pt(k%pic.Width, k/pic.Width).In(visible) {
				expected = want.Mask.Pix[k]
			}
			if v != expected {
				t.Fatalf("pixel %d is %d, want %d", k, v, expected)
			}
		}
		if !slices.Equal(shown, was) {
			changed++
		}
	}
	if changed == 0 {
		t.Error("no sensitivity shows anything new")
	}
	s.rest()
	if len(s.Document().Findings()) == 0 {
		t.Error("nothing is found in the end")
	}
}

// What is said to be found at a sensitivity is found there.
func TestCountAt(t *testing.T) {
	s, _ := searched(t, image.Rectangle{})
	sensitivities := []float64{-3, 0, 2, 5}
	counts := slices.Clone(s.CountAt(sensitivities))
	for i, v := range sensitivities {
		s.sensitivity(v)
		s.rest()
		if n := len(s.Document().Findings()); n != counts[i] {
			t.Errorf("%d findings at %g, counted were %d", n, v, counts[i])
		}
	}
	if counts[0] == counts[3] {
		t.Errorf("the sensitivity changes nothing: %v", counts)
	}
	s.KeepTable(nil)
	if got := s.CountAt(sensitivities); got != nil {
		t.Errorf("%v are counted without a search", got)
	}
}

// A preview never removes work of the user.
func TestPreviewLosesNothing(t *testing.T) {
	s, _ := searched(t, image.Rectangle{})
	shows := func(what string, expected bool) {
		t.Helper()
		s.sensitivity(s.Settings().Params.Sensitivity - 0.2)
		if s.Previewing() != expected {
			t.Errorf("%s: previews %v", what, !expected)
		}
		s.rest()
	}
	shows("just searched", true)
	found := s.Document().Findings()
	strongest := slices.MaxFunc(found, func(a, b detect.Finding) int { return cmp.Compare(a.Strength, b.Strength) })
	s.Document().Select(strongest.Runs[0].X0, strongest.Runs[0].Y)
	s.RemoveSelected()
	shows("a finding ignored", true)
	if len(s.Document().Ignored()) != 1 {
		t.Errorf("%d ignored after a preview", len(s.Document().Ignored()))
	}
	// A stroke that is painted while the preview runs stays.
	s.sensitivity(2)
	s.BeginStroke(document.Brush{Radius: 4}, processing.Point{X: 90, Y: 60})
	s.EndStroke()
	painted := slices.Clone(s.Document().Mask().Pix)
	s.rest()
	if !slices.Equal(s.Document().Mask().Pix, painted) {
		t.Error("the preview took a stroke away")
	}
	shows("painted", false)
	s.Undo()
	shows("the stroke undone", true)
	s.ClearMask()
	shows("cleared", false)
	s.Undo()
	s.CorrectAll(func(_ glare.Outcome, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	s.rest()
	shows("corrected", false)
}

// A change of any parameter of detection is shown first in the visible part, with the same pixels as a detection of the
// whole picture, then in the whole picture. One undo reverts all of it.
func TestPreviewOfAnyParameter(t *testing.T) {
	visible := image.Rect(40, 30, 130, 90)
	s, k := searched(t, visible)
	pic := s.Document().Picture()
	first := slices.Clone(s.Document().Mask().Pix)
	be := cpu.New()
	defer be.Close()
	for i, set := range []func(p *processing.Params){
		func(p *processing.Params) { p.Mode = processing.Manual },
		func(p *processing.Params) { p.Window = 31 },
		func(p *processing.Params) { p.Visible, p.Contrast = 3, 5 },
		func(p *processing.Params) { p.Mode, p.Detector = processing.Adaptive, processing.DetectorAuto },
	} {
		p := s.Settings().Params
		set(&p)
		want, err := detect.Detect(t.Context(), be, pic, p, detect.Options{Network: testpic.Network()})
		if err != nil {
			t.Fatal(err)
		}
		was, count := slices.Clone(s.Document().Mask().Pix), s.Document().Stats()
		// The table of the first detection would serve.
		s.KeepTable(nil)
		k.gated.Store(true)
		s.SetParams(p)
		if !s.Previewing() {
			t.Fatalf("change %d does not show", i)
		}
		s.whole(k)
		for k, v := range s.Document().Mask().Pix {
			expected := was[k]
			if image.Pt(k%pic.Width, k/pic.Width).In(visible) {
				expected = want.Mask.Pix[k]
			}
			if v != expected {
				t.Fatalf("change %d: pixel %d of the preview is %d, want %d", i, k, v, expected)
			}
		}
		if s.Document().Stats() != count {
			t.Error("the preview of a part is counted")
		}
		k.gated.Store(false)
		k.let <- struct{}{}
		s.rest()
		if !slices.Equal(s.Document().Mask().Pix, want.Mask.Pix) {
			t.Errorf("change %d: the mask is not that of a search", i)
		}
	}
	s.Undo()
	if !slices.Equal(s.Document().Mask().Pix, first) {
		t.Error("one step does not take back what the sliders did")
	}
}

// A detection of the whole picture that is out of date is cancelled. What the user paints meanwhile is painted on the
// mask without the preview.
func TestPreviewGivesWay(t *testing.T) {
	s, k := searched(t, image.Rect(0, 0, 120, 100))
	pic := s.Document().Picture()
	s.announced = func(_ glare.Outcome, err error) {
		if err != nil {
			t.Error(err)
		}
	}
	p := s.Settings().Params
	p.Mode = processing.Manual
	k.gated.Store(true)
	for _, window := range []int{21, 31, 41} {
		p.Window = window
		s.SetParams(p)
		s.whole(k)
	}
	k.let <- struct{}{}
	s.rest()
	be := cpu.New()
	defer be.Close()
	want, err := detect.Detect(t.Context(), be, pic, p, detect.Options{Network: testpic.Network()})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Document().Mask().Pix, want.Mask.Pix) {
		t.Error("the mask is not that of the last change")
	}
	p.Visible, p.Contrast = 2, 4
	s.SetParams(p)
	s.whole(k)
	s.BeginStroke(document.Brush{Radius: 4}, processing.Point{X: 90, Y: 60})
	s.EndStroke()
	painted := slices.Clone(s.Document().Mask().Pix)
	k.let <- struct{}{}
	s.rest()
	if !slices.Equal(s.Document().Mask().Pix, painted) {
		t.Error("the preview came over a stroke")
	}
	s.Undo()
	if !slices.Equal(s.Document().Mask().Pix, want.Mask.Pix) {
		t.Error("the stroke was painted on the preview")
	}
}

// While a parameter of correction changes, the selected finding is shown corrected with it. One undo reverts all of it,
// and no other finding changes.
func TestCorrectionPreview(t *testing.T) {
	t.Parallel()
	s, _ := searched(t, image.Rectangle{})
	halo := func(v float64) {
		t.Helper()
		if err := s.SetParam(testpic.Spec(t, "halo"), v); err != nil {
			t.Fatal(err)
		}
	}
	s.SelectNext(1)
	halo(3)
	if s.Previewing() {
		t.Error("a finding that is not corrected is")
	}
	s.CorrectAll(s.outcome)
	s.rest()
	first := s.Document().Corrections()
	s.announced = func(o glare.Outcome, err error) {
		if err != nil || !o.Corrected || o.Count != 1 {
			t.Errorf("%+v, %v", o, err)
		}
	}
	for _, v := range []float64{8, 1, 12} {
		halo(v)
		if !s.Previewing() {
			t.Fatalf("halo %g does not show", v)
		}
	}
	s.rest()
	shown := s.Document().Corrections().Patches()
	s.Undo()
	if s.Document().Corrections() != first {
		t.Error("one step does not take back what moving the slider did")
	}
	s.CorrectSelected(processing.MethodAuto, s.outcome)
	s.rest()
	want := s.Document().Corrections().Patches()
	if !reflect.DeepEqual(shown, want) {
		t.Error("what was shown is not what a correction gives")
	}
	was := first.Patches()
	changed := 0
	for i := range was {
		if !reflect.DeepEqual(was[i].Runs, want[i].Runs) {
			changed++
		}
	}
	if len(was) != len(want) || changed == 0 {
		t.Errorf("%d of %d corrections are others", changed, len(was))
	}
	// A preview of another finding is a new step.
	s.SelectNext(1)
	halo(1)
	s.rest()
	s.SelectNext(1)
	halo(0)
	s.rest()
	s.Undo()
	s.Undo()
	if !reflect.DeepEqual(s.Document().Corrections().Patches(), want) {
		t.Error("two steps do not take back the previews of two findings")
	}
}

// Undo and redo of a detection bring back the parameters that it was asked with, also while another one is on its way.
func TestUndoRestoresParameters(t *testing.T) {
	t.Parallel()
	s, k := searched(t, image.Rectangle{})
	asked := s.Settings().Params
	asks := func(when string, want processing.Params) {
		t.Helper()
		if got := s.Settings().Params; got != want {
			t.Errorf("%s: the parameters are\n%+v, expected\n%+v", when, got, want)
		}
	}
	s.sensitivity(-3)
	s.rest()
	later := s.Settings().Params
	s.Undo()
	asks("undone", asked)
	if s.Previewing() {
		t.Error("undo starts another search")
	}
	s.Redo()
	asks("redone", later)
	classic := later
	classic.Detector = processing.DetectorClassic
	s.SetParams(classic)
	s.rest()
	s.Undo()
	asks("the classical detector undone", asked)
	s.Redo()
	asks("the classical detector redone", classic)
	manual := later
	manual.Mode, manual.Window, manual.Halo = processing.Manual, 31, later.Halo+1
	s.SetParams(manual)
	s.rest()
	s.GoTo(1)
	asked.Window, asked.Halo = manual.Window, manual.Halo
	asks("gone back to the first step", asked)
	want := slices.Clone(s.Document().Mask().Pix)

	s.KeepTable(nil)
	k.gated.Store(true)
	s.sensitivity(2)
	s.whole(k)
	s.GoTo(0)
	s.GoTo(1)
	asks("gone back while searching", asked)
	k.gated.Store(false)
	s.rest()
	if !slices.Equal(s.Document().Mask().Pix, want) {
		t.Error("the search that was under way came over the step")
	}
}
