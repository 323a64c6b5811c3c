package form_test

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
	"pgregory.net/rapid"

	"blik/app/i18n"
	"blik/internal/test/uitest"
	"blik/processing"
	"blik/ui/form"
	"blik/ui/xwidget"
)

// noKeys discards the keys that the form does not use.
type noKeys struct{}

func (noKeys) Rune(rune)           {}
func (noKeys) Key(*fyne.KeyEvent)  {}
func (noKeys) Down(*fyne.KeyEvent) {}
func (noKeys) Up(*fyne.KeyEvent)   {}

func newForm(t *testing.T, lang string) (*form.Form, fyne.Window) {
	t.Helper()
	test.NewTempApp(t)
	words := i18n.For(lang)
	f := form.New(words, xwidget.NewTooltips(), noKeys{}, processing.Specs())
	w := test.NewTempWindow(t, f.Object)
	w.Resize(fyne.NewSize(312, 2000))
	for _, b := range uitest.Find[*xwidget.Button](f.Object) {
		test.Tap(b) // unfolds a group
	}
	return f, w
}

// params draws valid parameters.
func params(t *rapid.T) processing.Params {
	p := processing.DefaultParams()
	for _, s := range processing.Specs() {
		v := rapid.Float64Range(s.Min, s.Max).Draw(t, s.ID)
		if s.Kind != processing.KindReal {
			v = float64(int(v))
		}
		if s.Kind == processing.KindOdd && int(v)%2 == 0 {
			v++
		}
		if err := s.Set(&p, v); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// A form returns exactly the parameters it shows, even values between the steps of a slider.
func TestParamsSurviveTheForm(t *testing.T) {
	f, _ := newForm(t, "en")
	f.OnChanged = func(processing.Spec, float64) { t.Error("showing parameters counts as a change by the user") }
	rapid.Check(t, func(rt *rapid.T) {
		p := params(rt)
		f.SetParams(p)
		if got := f.Params(); got != p {
			rt.Fatalf("the form contains\n%+v\nbut was set to\n%+v", got, p)
		}
	})
}

// The form shows what mode and detector leave a use for: in adaptive mode not what it chooses itself, in manual mode and
// with the classical detector not what only the network has.
func TestUselessParametersAreHidden(t *testing.T) {
	f, _ := newForm(t, "en")
	shows := func(detectors, fields int) {
		t.Helper()
		// Two other choices are always shown.
		n, m := len(uitest.Find[*xwidget.Radio](f.Object))-2, len(uitest.Find[*xwidget.NumberEntry](f.Object))
		if n != detectors || m != fields {
			t.Errorf("%d choices of the detector and %d fields are shown, want %d and %d", n, m, detectors, fields)
		}
	}
	manual, always := 0, 0
	for _, s := range processing.Specs() {
		switch {
		case s.Kind == processing.KindSwitch || s.Kind == processing.KindChoice || s.ID == "sensitivity":
		case s.Manual:
			manual++
		default:
			always++
		}
	}
	shows(1, always+1)
	uitest.Find[*xwidget.Radio](f.Object)[1].SetSelected("classical")
	shows(1, always)
	mode := uitest.Find[*xwidget.Radio](f.Object)[0]
	reported := ""
	f.OnChanged = func(s processing.Spec, v float64) { reported = s.ID + " " + s.Format(v) }
	mode.SetSelected("manual")
	if reported != "mode manual" || f.Params().Mode != processing.Manual {
		t.Errorf("choosing manual mode reported %q", reported)
	}
	shows(0, always+manual)
}

// entries returns the fields by their parameter.
func entries(f *form.Form) map[string]*xwidget.NumberEntry {
	all := map[string]*xwidget.NumberEntry{}
	fields := uitest.Find[*xwidget.NumberEntry](f.Object)
	i := 0
	for _, s := range processing.Specs() {
		if s.Kind == processing.KindSwitch || s.Kind == processing.KindChoice || !s.Used(f.Params()) {
			continue
		}
		all[s.ID] = fields[i]
		i++
	}
	return all
}

func faults(f *form.Form) []string {
	var all []string
	for _, l := range uitest.Find[*widget.Label](f.Object) {
		if l.Importance == widget.DangerImportance {
			all = append(all, l.Text)
		}
	}
	return all
}

func TestTyping(t *testing.T) {
	f, w := newForm(t, "ru")
	p := processing.DefaultParams()
	p.Mode = processing.Manual
	f.SetParams(p)
	changes := 0
	f.OnChanged = func(processing.Spec, float64) { changes++ }
	field := entries(f)

	enter := func(id, text string) {
		field[id].SetText("")
		w.Canvas().Focus(field[id])
		test.Type(field[id], text)
		w.Canvas().Unfocus()
	}
	enter("visible", "12,25")
	if got := f.Params().Visible; got != 12.25 || changes != 1 {
		t.Errorf("12,25 became %v after %d changes", got, changes)
	}
	for _, c := range []struct{ id, text, want string }{
		{"window", "12", "Окно фона: значение должно быть нечётным, чтобы у окна был средний пиксель."},
		{"window", "999", "Окно фона: допустимы значения от 3 до 63."},
		{"window", "abc", "Окно фона: введите число."},
		{"level", "1,5", "Уровень затравки: нужно целое число."},
	} {
		enter(c.id, c.text)
		if got := faults(f); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s = %s says %q, expected %q", c.id, c.text, got, c.want)
		}
		f.SetParams(f.Params())
	}
	if d := processing.DefaultParams(); f.Params().Window != d.Window || f.Params().Level != d.Level || changes != 1 {
		t.Errorf("invalid values were accepted: %+v", f.Params())
	}
}

func TestSliderMovesTheValue(t *testing.T) {
	f, _ := newForm(t, "en")
	slider := uitest.Find[*xwidget.Slider](f.Object)[0]
	slider.SetValue(1.3)
	if got := f.Params().Sensitivity; got != 1.3 {
		t.Errorf("slider at 1.3: %v", got)
	}
	if got := uitest.Find[*xwidget.NumberEntry](f.Object)[0].Text; got != "1.3" {
		t.Errorf("the field shows %q", got)
	}
}

// A parameter with many choices has a selection box.
func TestChoosing(t *testing.T) {
	f, _ := newForm(t, "ru")
	boxes := uitest.Find[*xwidget.Select](f.Object)
	box := boxes[slices.IndexFunc(boxes, func(b *xwidget.Select) bool { return slices.Contains(b.Options, "гармонический") })]
	if box.Selected != "автоматически" {
		t.Errorf("the box shows %q out of %q", box.Selected, box.Options)
	}
	reported := ""
	f.OnChanged = func(s processing.Spec, v float64) { reported = s.ID + " " + s.Format(v) }
	box.SetSelected("гармонический")
	if reported != "method harmonic" || f.Params().Method != processing.MethodHarmonic {
		t.Errorf("choosing harmonic reported %q, the form contains %v", reported, f.Params().Method)
	}
}

// A form of one stage shows only that stage and does not change the others.
func TestFormOfOneStage(t *testing.T) {
	test.NewTempApp(t)
	words := i18n.For("en")
	specs := processing.SpecsOf(processing.StageCorrection)
	f := form.New(words, xwidget.NewTooltips(), noKeys{}, specs)
	w := test.NewTempWindow(t, f.Object)
	w.Resize(fyne.NewSize(312, 800))
	if n := len(uitest.Find[*xwidget.HelpLabel](f.Object)); n != len(specs) {
		t.Errorf("%d names for %d parameters", n, len(specs))
	}
	p := processing.DefaultParams()
	p.Margin, p.Halo = 7, 5
	f.SetParams(p)
	uitest.Find[*xwidget.Slider](f.Object)[0].SetValue(6)
	p.Halo = 6
	if f.Params() != p {
		t.Errorf("the form contains %+v", f.Params())
	}
}

// The help of every parameter exists in both languages and contains its range.
func TestHelp(t *testing.T) {
	for _, lang := range []string{"en", "ru"} {
		f, _ := newForm(t, lang)
		for _, mode := range []processing.Mode{processing.Adaptive, processing.Manual} {
			p := processing.DefaultParams()
			p.Mode = mode
			f.SetParams(p)
			labels := uitest.Find[*xwidget.HelpLabel](f.Object)
			for _, s := range processing.Specs() {
				if !s.Used(p) {
					continue
				}
				if len(labels) == 0 {
					t.Fatalf("%s: no help label is left for %s", lang, s.ID)
				}
				if help := labels[0].Help(); !strings.HasPrefix(help, i18n.For(lang).Sprint(s.Help)) {
					t.Errorf("%s: the help of %s is %q", lang, s.ID, help)
				}
				labels = labels[1:]
			}
		}
	}
}

// The stops of the sensitivity say how many findings each would give; choosing one sets its value.
func TestCounts(t *testing.T) {
	f, _ := newForm(t, "en")
	boxes := uitest.Find[*xwidget.Select](f.Object)
	box := boxes[slices.IndexFunc(boxes, func(b *xwidget.Select) bool { return slices.Contains(b.Options, "balanced") })]
	changes := 0
	f.OnChanged = func(processing.Spec, float64) { changes++ }
	f.SetCounts("sensitivity", []int{1, 38, 1096, 2000})
	want := []string{"only certain: 1 finding", "balanced: 38 findings", "everything visible: 1,096 findings",
		"dim specks too: 2,000 findings"}
	if !slices.Equal(box.Options, want) || box.Selected != want[1] || changes != 0 {
		t.Errorf("%q, %q is selected after %d changes", box.Options, box.Selected, changes)
	}
	box.SetSelected(want[2])
	if f.Params().Sensitivity != 0.8 || changes != 1 {
		t.Errorf("sensitivity %g after %d changes", f.Params().Sensitivity, changes)
	}
	f.SetCounts("sensitivity", nil)
	if box.Selected != "everything visible" || changes != 1 {
		t.Errorf("without counts %q is selected, after %d changes", box.Selected, changes)
	}
}

// A group all of whose numbers are 0 is folded until the user opens it, and never folds under the user's hand.
func TestFolding(t *testing.T) {
	test.NewTempApp(t)
	f := form.New(i18n.For("en"), xwidget.NewTooltips(), noKeys{}, processing.SpecsOf(processing.StageDetection))
	test.NewTempWindow(t, f.Object).Resize(fyne.NewSize(312, 800))
	shows := func(what string, want int) {
		t.Helper()
		if n := len(uitest.Find[*xwidget.Slider](f.Object)); n != want {
			t.Errorf("%s: %d sliders, want %d", what, n, want)
		}
	}
	fold := uitest.Find[*xwidget.Button](f.Object)[0]
	shows("at first", 1)
	test.Tap(fold)
	shows("opened", 5)
	margin := uitest.Find[*xwidget.Slider](f.Object)[3]
	margin.SetValue(2)
	margin.SetValue(0)
	shows("0 again", 5)
	test.Tap(fold)
	shows("folded", 1)
	p := processing.DefaultParams()
	p.Margin = 3
	f.SetParams(p)
	shows("with a margin", 5)
	test.Tap(fold)
	shows("what does something cannot be folded", 5)
	f.SetParams(processing.DefaultParams())
	shows("without it", 1)
}
