package form

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"blik/app/i18n"
	"blik/processing"
	"blik/ui/xwidget"
)

// stops offers the values of a parameter that have names, with the number of findings that each would give.
type stops struct {
	box    *xwidget.Select
	values []processing.SpecStop
	counts []int
}

// newStops returns the stops; chosen is called with the value of the one that the user chose.
func newStops(t *i18n.Printer, keys xwidget.Keys, values []processing.SpecStop, chosen func(v float64)) *stops {
	s := &stops{values: values}
	s.box = xwidget.NewSelect(nil, keys, func(name string) {
		if i := slices.Index(s.box.Options, name); i >= 0 {
			chosen(values[i].Value)
		}
	})
	s.box.PlaceHolder = t.Sprintf("between the stops")
	s.box.Options = s.names(t)
	return s
}

// names returns the texts of the stops.
func (s *stops) names(t *i18n.Printer) []string {
	names := make([]string, len(s.values))
	for i, v := range s.values {
		if names[i] = t.Sprint(v.Name); s.counts != nil {
			names[i] = t.Plural(s.counts[i], "%s: %s finding", "%s: %s findings", names[i], t.Int(s.counts[i]))
		}
	}
	return names
}

// count shows how many findings each stop would give; nil shows none.
func (s *stops) count(t *i18n.Printer, counts []int) {
	if slices.Equal(counts, s.counts) {
		return
	}
	s.counts = counts
	s.box.Options = s.names(t)
	s.box.ClearSelected()
}

// show selects the stop of a value, if it has one.
func (s *stops) show(v float64) {
	if i := slices.IndexFunc(s.values, func(t processing.SpecStop) bool { return t.Value == v }); i >= 0 {
		s.box.SetSelected(s.box.Options[i])
	} else {
		s.box.ClearSelected()
	}
}

// marked returns the slider of a parameter with ticks at its stops.
func marked(slider *xwidget.Slider, s processing.Spec) fyne.CanvasObject {
	if len(s.Stops) == 0 {
		return slider
	}
	objects := []fyne.CanvasObject{slider}
	for range s.Stops {
		objects = append(objects, canvas.NewRectangle(theme.Color(theme.ColorNameForeground)))
	}
	return container.New(&ticks{s}, objects...)
}

// ticks lays out a slider and a tick for each stop under its track.
type ticks struct{ spec processing.Spec }

// The size of a tick in Fyne units, and its distance from the middle of the track.
const tickWidth, tickHeight, tickDistance = 1.5, 4, 8

func (l *ticks) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Resize(size)
	// As widget.Slider places the middle of its handle at both ends.
	inset := (theme.IconInlineSize()-4)/2 + theme.InnerPadding() - 1.5
	for i, o := range objects[1:] {
		at := float32((l.spec.Stops[i].Value - l.spec.Min) / (l.spec.Max - l.spec.Min))
		o.Resize(fyne.NewSize(tickWidth, tickHeight))
		o.Move(fyne.NewPos(inset+at*(size.Width-2*inset)-tickWidth/2, size.Height/2+tickDistance))
	}
}

func (l *ticks) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }
