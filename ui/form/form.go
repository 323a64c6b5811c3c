// Package form builds the window's forms of parameters from their descriptions in processing.
package form

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"blik/app/i18n"
	"blik/processing"
	"blik/ui/xwidget"
)

// sliderSteps is the largest number of steps for which a parameter has a slider; beyond it a slider cannot be set
// with any precision.
const sliderSteps = 500

// The widths of a row's columns in Fyne units: at least that for the name, that of a field for a number, and that of
// its unit.
const (
	nameWidth   = 148
	numberWidth = 68
	unitWidth   = 28
)

// radioChoices is the largest number of choices shown side by side; more are shown in a selection box.
const radioChoices = 3

// Form shows some of the parameters and changes them. In adaptive mode the parameters that it chooses itself are
// hidden.
type Form struct {
	// Object is the form.
	Object fyne.CanvasObject
	// OnChanged is called after the user changed a parameter, with its description and its value.
	OnChanged func(s processing.Spec, v float64)

	texts  *i18n.Printer
	params processing.Params
	rows   []*row
	groups []*group
	// quiet is set while the form shows values that the user did not change.
	quiet bool
}

// row holds the controls of one parameter.
type row struct {
	spec   processing.Spec
	object fyne.CanvasObject
	show   func(v float64)
	fault  *widget.Label
	// slider is nil if there is none, stops if no value has a name.
	slider *xwidget.Slider
	stops  *stops
}

// group is a heading with rows. While none of them does anything, their numbers being 0, they are folded away unless
// the user has opened them.
type group struct {
	heading fyne.CanvasObject
	rows    []*row
	// fold opens and folds the rows; nil if they are always shown.
	fold *xwidget.Button
	open bool
}

// foldable reports whether a group of parameters can do nothing: all its numbers can be 0, and there is no choice.
func foldable(specs []processing.Spec, group string) bool {
	numbers := 0
	for _, s := range specs {
		switch {
		case s.Group.ID != group || s.Kind == processing.KindSwitch:
		case s.Kind == processing.KindChoice || s.Min != 0 || s.Manual:
			return false
		default:
			numbers++
		}
	}
	return numbers > 0
}

// idle reports whether all numbers of the group are 0.
func (g *group) idle(p processing.Params) bool {
	return !slices.ContainsFunc(g.rows, func(r *row) bool {
		return r.spec.Kind != processing.KindSwitch && r.spec.Get(p) != 0
	})
}

// folds reports whether the rows of the group are folded away.
func (g *group) folds(p processing.Params) bool { return g.fold != nil && !g.open && g.idle(p) }

// newFold returns the heading of a group that can be folded.
func (f *Form) newFold(g *group, name string, keys xwidget.Keys) *xwidget.Button {
	g.fold = xwidget.NewButton(name, keys, func() {
		g.open = g.folds(f.params)
		f.arrange()
	})
	g.fold.Importance, g.fold.Alignment = widget.LowImportance, widget.ButtonAlignLeading
	return g.fold
}

// New returns a form of the given parameters, with default values.
func New(t *i18n.Printer, tips *xwidget.Tooltips, keys xwidget.Keys, specs []processing.Spec) *Form {
	f := &Form{texts: t, params: processing.DefaultParams()}
	box := container.New(layout.NewCustomPaddedVBoxLayout(2))
	last := ""
	for _, s := range specs {
		if s.Group.ID != last {
			last = s.Group.ID
			g := &group{}
			if name := t.Sprint(s.Group.Name); foldable(specs, s.Group.ID) {
				g.heading = f.newFold(g, name, keys)
			} else {
				g.heading = widget.NewLabelWithStyle(name, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
			}
			f.groups = append(f.groups, g)
			box.Add(g.heading)
		}
		r := f.newRow(s, tips, keys)
		f.rows = append(f.rows, r)
		g := f.groups[len(f.groups)-1]
		g.rows = append(g.rows, r)
		box.Add(r.object)
	}
	f.Object = box
	f.SetParams(f.params)
	return f
}

// Params returns the parameters shown by the form; parameters that it does not show are those of SetParams.
func (f *Form) Params() processing.Params { return f.params }

// SetParams shows p. It does not call OnChanged.
func (f *Form) SetParams(p processing.Params) {
	f.params = p
	f.quiet = true
	for _, r := range f.rows {
		r.show(r.spec.Get(p))
		r.setFault("")
	}
	f.quiet = false
	f.arrange()
}

// Slider returns the slider of the parameter with the given ID; nil if there is none.
func (f *Form) Slider(id string) fyne.CanvasObject {
	for _, r := range f.rows {
		if r.spec.ID == id && r.slider != nil {
			return r.slider
		}
	}
	return nil
}

// SetCounts shows at the stops of the parameter with the given ID how many findings each would give; nil shows none.
func (f *Form) SetCounts(id string, counts []int) {
	for _, r := range f.rows {
		if r.spec.ID == id && r.stops != nil {
			f.quiet = true
			r.stops.count(f.texts, counts)
			r.stops.show(r.spec.Get(f.params))
			f.quiet = false
		}
	}
}

// arrange hides the parameters that mode and detector leave no use for, empty groups, and what is folded.
func (f *Form) arrange() {
	for _, g := range f.groups {
		left, folded := 0, g.folds(f.params)
		for _, r := range g.rows {
			hidden := !r.spec.Used(f.params)
			xwidget.SetVisible(r.object, !hidden && !folded)
			if !hidden {
				left++
			}
		}
		if g.fold != nil {
			icon := theme.MenuDropDownIcon()
			if folded {
				icon = theme.MenuExpandIcon()
			}
			g.fold.SetIcon(icon)
		}
		if left == 0 {
			g.heading.Hide()
		} else {
			g.heading.Show()
		}
	}
	f.Object.Refresh()
}

// set handles a value that the user entered.
func (f *Form) set(r *row, v float64) {
	if f.quiet || r.spec.Get(f.params) == v {
		return
	}
	if err := r.spec.Set(&f.params, v); err != nil {
		r.setFault(f.fault(r.spec, v))
		return
	}
	r.setFault("")
	f.quiet = true
	r.show(v)
	f.quiet = false
	// A group does not fold under the user's hand.
	for _, g := range f.groups {
		g.open = g.open || slices.Contains(g.rows, r)
	}
	if r.spec.Kind == processing.KindChoice {
		f.arrange()
	}
	if f.OnChanged != nil {
		f.OnChanged(r.spec, v)
	}
}

// setText handles a number that the user typed.
func (f *Form) setText(r *row, text string) {
	v, err := i18n.ParseNumber(text)
	if err != nil {
		r.setFault(f.texts.Sprintf("%s: enter a number.", f.texts.Sprint(r.spec.Name)))
		return
	}
	if r.spec.Get(f.params) == v {
		r.setFault("")
		return
	}
	f.set(r, v)
}

// fault returns the error of processing.Spec.Check in the user's language.
func (f *Form) fault(s processing.Spec, v float64) string {
	name := f.texts.Sprint(s.Name)
	switch {
	case math.IsNaN(v) || v < s.Min || v > s.Max:
		return f.texts.Sprintf("%s must be between %s and %s.", name, f.texts.Number(s.Min, 3),
			f.texts.Number(s.Max, 3))
	case s.Kind == processing.KindOdd && v == math.Trunc(v):
		return f.texts.Sprintf("%s must be odd, so that the window has a central pixel.", name)
	default:
		return f.texts.Sprintf("%s must be a whole number.", name)
	}
}

func (r *row) setFault(text string) {
	if text == "" {
		r.fault.Hide()
		return
	}
	r.fault.SetText(text)
	r.fault.Show()
}

func (f *Form) newRow(s processing.Spec, tips *xwidget.Tooltips, keys xwidget.Keys) *row {
	r := &row{spec: s, fault: widget.NewLabel("")}
	r.fault.Wrapping = fyne.TextWrapWord
	r.fault.Importance = widget.DangerImportance
	r.fault.SizeName = theme.SizeNameCaptionText
	r.fault.Hide()

	name := xwidget.NewHelpLabel(f.texts.Sprint(s.Name), f.help(s), tips)
	switch s.Kind {
	case processing.KindSwitch:
		check := xwidget.NewCheck("", keys, func(on bool) {
			v := 0.0
			if on {
				v = 1
			}
			f.set(r, v)
		})
		name.Explain(check)
		r.show = func(v float64) { check.SetChecked(v != 0) }
		r.object = pad(container.NewBorder(nil, nil, name, check), r.fault)
	case processing.KindChoice:
		names := make([]string, len(s.Choices))
		for i, c := range s.Choices {
			names[i] = f.texts.Sprint(c.Name)
		}
		take := func(chosen string) {
			if i := slices.Index(names, chosen); i >= 0 {
				f.set(r, float64(i))
			}
		}
		if len(names) <= radioChoices {
			choice := xwidget.NewRadio(names, keys, take)
			choice.Horizontal = true
			r.show = func(v float64) { choice.SetSelected(names[int(v)]) }
			// The choices replace the name.
			name = xwidget.NewHelpLabel("", name.Help(), tips)
			name.Explain(choice)
			r.object = pad(container.NewHBox(choice, name), r.fault)
			break
		}
		choice := xwidget.NewSelect(names, keys, take)
		name.Explain(choice)
		r.show = func(v float64) { choice.SetSelected(names[int(v)]) }
		r.object = pad(container.NewBorder(nil, nil, container.NewCenter(name), nil,
			container.New(layout.NewCustomPaddedLayout(0, 0, 8, 0), choice)), r.fault)
	default:
		r.object, r.show = f.numberRow(r, name, keys)
	}
	return r
}

// numberRow returns a row of a name, a slider, if it makes sense, a field, and the first word of its unit, the whole of
// which the help has; and under it the stops, if there are some.
func (f *Form) numberRow(r *row, name *xwidget.HelpLabel, keys xwidget.Keys) (fyne.CanvasObject, func(float64)) {
	s := r.spec
	entry := xwidget.NewNumberEntry(numberWidth, func(text string) { f.setText(r, text) })
	name.Explain(entry)
	unit := xwidget.NewFixedText("")
	unit.Stretch, unit.Muted = true, true
	short, _, _ := strings.Cut(f.texts.Sprint(s.Unit), " ")
	unit.SetText(short)
	field := container.NewHBox(entry, xwidget.NewMinWidth(unitWidth, unit))
	column := xwidget.NewMinWidth(nameWidth, container.NewHBox(container.NewCenter(name)))
	var slider *xwidget.Slider
	line := container.NewBorder(nil, nil, column, field)
	if (s.Max-s.Min)/s.Step <= sliderSteps {
		slider = xwidget.NewSlider(s.Min, s.Max, s.Step, keys)
		slider.OnChanged = func(v float64) { f.set(r, round(v)) }
		r.slider = slider
		name.Explain(slider)
		line.Add(marked(slider, s))
	}
	parts := []fyne.CanvasObject{line}
	if len(s.Stops) > 0 {
		r.stops = newStops(f.texts, keys, s.Stops, func(v float64) { f.set(r, v) })
		name.Explain(r.stops.box)
		parts = append(parts, container.New(layout.NewCustomPaddedLayout(0, 0, 8, 0), r.stops.box))
	}
	show := func(v float64) {
		if r.stops != nil {
			r.stops.show(v)
		}
		entry.ShowText(f.texts.Number(v, 3))
		if slider != nil {
			slider.SetValue(v)
		}
	}
	return pad(append(parts, r.fault)...), show
}

// round removes the rounding errors of repeated steps, from the tenth decimal on.
func round(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', 9, 64), 64)
	return v
}

func (f *Form) help(s processing.Spec) string {
	help := f.texts.Sprint(s.Help)
	if s.Kind == processing.KindSwitch || s.Kind == processing.KindChoice {
		return help
	}
	return help + "\n" + f.texts.Sprintf("From %s to %s %s", f.texts.Number(s.Min, 3), f.texts.Number(s.Max, 3), s.Unit)
}

// pad insets a row's parts so that rows are separated and their names are aligned with the headings.
func pad(parts ...fyne.CanvasObject) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(1, 3, 8, 4),
		container.New(layout.NewCustomPaddedVBoxLayout(0), parts...))
}
