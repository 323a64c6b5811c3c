package commands

import (
	"maps"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"blik/app/i18n"
	"blik/app/settings"
	"blik/internal/message"
	"blik/ui/keyset"
	"blik/ui/xwidget"
)

// KeyOptions are what the list of keys needs from the window. Chosen returns the keys that the user has chosen, Use
// replaces them.
type KeyOptions struct {
	All    []Command
	Texts  *i18n.Printer
	Keys   xwidget.Keys
	Canvas fyne.Canvas
	Chosen func() settings.Keys
	Use    func(settings.Keys)
	// Shown returns the keys of an action.
	Shown func(id string) string
	// Refusal returns why an action cannot have keys; it is empty if it can. ok is false for keys that no action may
	// have.
	Refusal func(id string, k keyset.Set, ok bool) string
	// Catch makes the window pass on the shortcuts of its menu; nil ends that.
	Catch func(func(fyne.Shortcut))
}

// keySettings is the list of actions with their keys, which the user can change.
type keySettings struct {
	o       KeyOptions
	list    *xwidget.List
	catcher *xwidget.KeyCatcher
	none    *xwidget.Button
	// at is the action that waits for its keys; −1 for none.
	at int
}

// NewKeys makes the list.
func NewKeys(o KeyOptions) fyne.CanvasObject {
	k := &keySettings{o: o, catcher: xwidget.NewKeyCatcher(), at: -1}
	k.list = xwidget.NewList(func() int { return len(k.o.All) },
		func() fyne.CanvasObject {
			return container.NewBorder(nil, nil, nil, widget.NewLabel(""), widget.NewLabel(""))
		},
		func(i int, o fyne.CanvasObject) { k.show(i, o.(*fyne.Container)) }, o.Keys)
	k.list.OnSelected = k.wait
	k.catcher.OnRune = func(r rune) { k.take(keyset.Typed(r)) }
	k.catcher.OnKey = func(name fyne.KeyName) {
		if name == fyne.KeyEscape {
			k.leave()
			return
		}
		k.take(keyset.Parse(string(name)))
	}
	k.catcher.OnShortcut = func(s fyne.Shortcut) { k.take(keyset.Pressed(s)) }
	k.catcher.OnEnd = func() { o.Catch(nil) }
	k.none = xwidget.NewButton(k.t("No key"), o.Keys, func() {
		if k.at >= 0 {
			k.put("")
		}
	})
	k.none.Disable()
	usual := xwidget.NewButton(k.t("Restore default keys"), o.Keys, func() {
		o.Use(nil)
		k.leave()
		k.catcher.SetText(k.t("All actions have their default keys again."))
	})
	k.catcher.SetText(k.t("Choose an action to give it other keys."))
	// There is room for two lines, so that nothing jumps.
	return container.NewBorder(nil, container.NewBorder(nil, nil, nil,
		container.NewCenter(container.NewHBox(k.none, usual)),
		container.NewStack(xwidget.NewGap(0, 58), k.catcher)), nil, nil, k.list)
}

func (k *keySettings) t(format message.Text, args ...any) string {
	return k.o.Texts.Sprintf(format, args...)
}

func (k *keySettings) show(i int, o *fyne.Container) {
	name, keys := o.Objects[0].(*widget.Label), o.Objects[1].(*widget.Label)
	name.Truncation = fyne.TextTruncateEllipsis
	keys.Importance = widget.LowImportance
	if _, chosen := k.o.Chosen()[k.o.All[i].ID]; chosen {
		keys.Importance = widget.HighImportance
	}
	name.SetText(k.o.All[i].Menu + " → " + k.o.All[i].Name)
	keys.SetText(k.o.Shown(k.o.All[i].ID))
}

// wait takes the next keys pressed for an action.
func (k *keySettings) wait(i int) {
	k.at = i
	k.none.Enable()
	k.catcher.SetText(k.t("Press the new keys for “%s”, or Esc to keep the current ones.", k.o.All[i].Name))
	k.o.Canvas.Focus(k.catcher)
	// The driver asks the menu before the focused widget.
	k.o.Catch(k.catcher.OnShortcut)
}

// leave stops waiting.
func (k *keySettings) leave() {
	k.at = -1
	k.none.Disable()
	k.list.UnselectAll()
	k.list.Refresh()
	k.catcher.SetText(k.t("Choose an action to give it other keys."))
	k.o.Canvas.Focus(k.list)
}

// take assigns the pressed keys to the action that waits, or explains why not and keeps waiting.
func (k *keySettings) take(keys keyset.Set, ok bool) {
	if k.at < 0 {
		return
	}
	if why := k.o.Refusal(k.o.All[k.at].ID, keys, ok); why != "" {
		k.catcher.SetText(why + " " + k.t("Press other keys, or Esc."))
		return
	}
	k.put(keys.Stored())
}

// put changes the keys of the action that waits.
func (k *keySettings) put(stored string) {
	c := k.o.All[k.at]
	chosen := maps.Clone(k.o.Chosen())
	if chosen == nil {
		chosen = settings.Keys{}
	}
	chosen[c.ID] = stored
	k.o.Use(chosen)
	k.leave()
	text := k.t("“%s” no longer has a key.", c.Name)
	if shown := k.o.Shown(c.ID); shown != "" {
		text = k.t("“%s” now has the keys %s.", c.Name, shown)
	}
	k.catcher.SetText(text)
}
