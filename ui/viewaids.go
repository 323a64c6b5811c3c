package ui

import (
	"image"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"blik/app/session"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
	"blik/ui/aids"
)

// viewAids holds the aids for viewing the picture: layers of detection with their legend, navigator, loupe, histogram,
// and the reasons for the finding under the pointer.
type viewAids struct {
	session *session.Session
	display *display
	object  fyne.CanvasObject
	layers  *layers
	cards   *fyne.Container

	legend    *legend
	navigator *navigator
	loupe     *loupe
	levels    *levels
	reasons   *reasons
}

// closeIcon is the icon of the button that closes a card.
func closeIcon() fyne.Resource { return theme.CancelIcon() }

// newViewAids makes the parts in the window's language; l keeps the chosen layer.
func newViewAids(c *common, l *layers) *viewAids {
	s := &viewAids{session: c.session, display: c.k.display, layers: l}
	s.legend, s.navigator, s.loupe, s.levels = newLegend(c, l), newNavigator(c), newLoupe(c), newLevels(c)
	s.reasons = &reasons{k: c.k, session: c.session}
	// In the order of the corners.
	s.cards = container.New(aids.CardLayout{}, s.legend.card, s.navigator.card, s.loupe.card, s.levels.card)
	c.k.display.caption(c.k.t("Original"), c.k.t("Result"))
	s.object = container.NewStack(c.k.display.pair, s.cards)
	return s
}

func (s *viewAids) update(c change) {
	s.layers.update(c)
	before := s.wanted()
	s.legend.card.Want(s.layers.on && s.session.Document() != nil)
	s.legend.show()
	s.navigator.update(c)
	s.loupe.update(c)
	s.levels.update(c)
	place := aids.CardLayout{Top: s.display.captionRoom()}
	if s.wanted() != before || c.Layout || s.cards.Layout != place {
		s.cards.Layout = place
		s.cards.Refresh()
		place.Layout(s.cards.Objects, s.cards.Size())
	}
	s.reasons.update(c)
}

// wanted returns which cards the user has opened.
func (s *viewAids) wanted() (open [4]bool) {
	for i, o := range s.cards.Objects {
		open[i] = o.(*aids.Card).Wanted()
	}
	return open
}

// hovered follows the pointer; inside is false if it has left the picture.
func (s *viewAids) hovered(at processing.Point, inside bool) {
	doc := s.session.Document()
	if doc == nil {
		return
	}
	pixel := image.Pt(int(math.Floor(at.X)), int(math.Floor(at.Y)))
	inside = inside && pixel.In(image.Rectangle{Max: doc.Size()})
	s.legend.hovered(pixel, inside)
	s.reasons.hovered(pixel, inside)
	s.loupe.hovered(pixel, inside)
}

// toggle returns a function that toggles a card, or another setting.
func (w *window) toggle(setting *bool, name message.Text) func() {
	return func() {
		*setting = !*setting
		w.update(change{View: true, Layout: true})
		if *setting && name != "" && !w.aids.shown(setting) {
			w.k.say(w.k.t("Not enough space to show: %s", w.k.t(name)))
		}
	}
}

// shown reports whether the card of a setting is visible, if the user has opened it.
func (s *viewAids) shown(setting *bool) bool {
	c := map[*bool]*aids.Card{
		&s.session.Settings().Navigator: s.navigator.card, &s.session.Settings().Loupe: s.loupe.card,
		&s.session.Settings().Histogram: s.levels.card,
	}[setting]
	return c == nil || !c.Wanted() || c.Fits()
}

// makeLooks adds the actions for looking at the picture to the table.
func (w *window) makeLooks() {
	open := func() bool { return w.c.session.Document() != nil }
	set, d, table := w.c.session.Settings(), w.k.display, w.k.actions.table
	table[viewBeside] = &action{name: "Side by side", run: d.toggleBeside, named: []fyne.KeyName{fyne.KeyF2},
		checked: func() bool { return d.beside }}
	table[viewClient] = &action{name: "Result in a second window", run: w.toggleClient, checked: w.client.Shown}
	table[viewGrid] = &action{name: "Pixel grid from 3200 %", run: d.toggleGrid, named: []fyne.KeyName{fyne.KeyF10},
		checked: func() bool { return d.look.Grid }}
	table[viewReasons] = &action{name: "Explain finding under pointer", keys: "i",
		run: w.toggle(&set.HideReasons, ""), checked: func() bool { return !set.HideReasons }}
	for id, c := range map[string]struct {
		name    message.Text
		setting *bool
		key     fyne.KeyName
	}{
		viewNavigator: {"Navigator", &set.Navigator, fyne.KeyF4},
		viewHistogram: {"Histogram", &set.Histogram, fyne.KeyF7},
	} {
		table[id] = &action{name: c.name, run: w.toggle(c.setting, c.name), named: []fyne.KeyName{c.key},
			checked: func() bool { return *c.setting }}
	}
	table[viewLoupe] = &action{name: "Loupe", run: w.toggle(&set.Loupe, "Loupe"), keys: "z",
		checked: func() bool { return set.Loupe }}
	table[layerNone] = &action{name: "Picture", run: w.layers.leave, keys: "0",
		checked: func() bool { return !w.layers.on }}
	for i, spec := range detect.Layers() {
		table["layer."+spec.ID] = &action{
			name: message.Text(spec.Name.String()), run: func() { w.layers.choose(spec) }, ready: open,
			keys: string(rune('1' + i)), checked: func() bool { return w.layers.shows(spec.Layer) },
		}
	}
}

// layerActions lists the actions that choose a layer.
func layerActions() []string {
	ids := []string{layerNone}
	for _, spec := range detect.Layers() {
		ids = append(ids, "layer."+spec.ID)
	}
	return ids
}
