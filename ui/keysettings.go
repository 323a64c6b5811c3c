package ui

import (
	"maps"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"blik/app/settings"
	"blik/ui/keyset"
	"blik/ui/xwidget"
)

// keySettings is the list of actions with their keys, which the user can change.
type keySettings struct {
	w       *window
	object  fyne.CanvasObject
	all     []command
	list    *xwidget.List
	catcher *xwidget.KeyCatcher
	none    *xwidget.Button
	// at is the action that waits for its keys; −1 for none.
	at int
}

// newKeySettings makes the list.
func newKeySettings(w *window) *keySettings {
	k := &keySettings{w: w, all: w.commands(), catcher: xwidget.NewKeyCatcher(), at: -1}
	k.all = append(k.all, command{id: commandsAction, name: w.k.name(commandsAction), menu: w.k.t("Help")})
	k.list = xwidget.NewList(func() int { return len(k.all) },
		func() fyne.CanvasObject {
			return container.NewBorder(nil, nil, nil, widget.NewLabel(""), widget.NewLabel(""))
		},
		func(i int, o fyne.CanvasObject) { k.show(i, o.(*fyne.Container)) }, w.k.keys)
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
	k.catcher.OnEnd = func() { w.k.actions.catch = nil }
	k.none = xwidget.NewButton(w.k.t("No key"), w.k.keys, func() {
		if k.at >= 0 {
			k.put("")
		}
	})
	k.none.Disable()
	usual := xwidget.NewButton(w.k.t("Restore default keys"), w.k.keys, func() {
		w.setKeys(nil)
		k.leave()
		k.catcher.SetText(w.k.t("All actions have their default keys again."))
	})
	k.catcher.SetText(w.k.t("Choose an action to give it other keys."))
	// There is room for two lines, so that nothing jumps.
	k.object = container.NewBorder(nil, container.NewBorder(nil, nil, nil,
		container.NewCenter(container.NewHBox(k.none, usual)),
		container.NewStack(xwidget.NewGap(0, 58), k.catcher)), nil, nil, k.list)
	return k
}

func (k *keySettings) show(i int, o *fyne.Container) {
	name, keys := o.Objects[0].(*widget.Label), o.Objects[1].(*widget.Label)
	name.Truncation = fyne.TextTruncateEllipsis
	keys.Importance = widget.LowImportance
	if _, chosen := k.w.c.session.Settings().Keys[k.all[i].id]; chosen {
		keys.Importance = widget.HighImportance
	}
	name.SetText(k.all[i].menu + " → " + k.all[i].name)
	keys.SetText(k.w.k.keyText(k.all[i].id))
}

// wait takes the next keys pressed for an action.
func (k *keySettings) wait(i int) {
	k.at = i
	k.none.Enable()
	k.catcher.SetText(k.w.k.t("Press the new keys for “%s”, or Esc to keep the current ones.", k.all[i].name))
	k.w.win.Canvas().Focus(k.catcher)
	// The driver asks the menu before the focused widget.
	k.w.k.actions.catch = k.catcher.OnShortcut
}

// leave stops waiting.
func (k *keySettings) leave() {
	k.at = -1
	k.none.Disable()
	k.list.UnselectAll()
	k.list.Refresh()
	k.catcher.SetText(k.w.k.t("Choose an action to give it other keys."))
	k.w.win.Canvas().Focus(k.list)
}

// take assigns the pressed keys to the action that waits, or explains why not and keeps waiting.
func (k *keySettings) take(keys keyset.Set, ok bool) {
	if k.at < 0 {
		return
	}
	if why := k.w.refusal(k.all[k.at].id, keys, ok); why != "" {
		k.catcher.SetText(why + " " + k.w.k.t("Press other keys, or Esc."))
		return
	}
	k.put(keys.Stored())
}

// put changes the keys of the action that waits.
func (k *keySettings) put(stored string) {
	c := k.all[k.at]
	chosen := maps.Clone(k.w.c.session.Settings().Keys)
	if chosen == nil {
		chosen = settings.Keys{}
	}
	chosen[c.id] = stored
	k.w.setKeys(chosen)
	k.leave()
	text := k.w.k.t("“%s” no longer has a key.", c.name)
	if shown := k.w.k.keyText(c.id); shown != "" {
		text = k.w.k.t("“%s” now has the keys %s.", c.name, shown)
	}
	k.catcher.SetText(text)
}

// refusal returns why an action cannot have keys; it is empty if it can. ok is false for keys that no action may have.
func (w *window) refusal(id string, k keyset.Set, ok bool) string {
	other, held := w.k.actions.holder(id, k)
	switch {
	case !ok:
		return w.k.t("Text fields, dialogs and tools need this key.")
	case held:
		return w.k.t("“%s” already uses these keys.", w.k.name(other))
	case w.k.actions.fits(id, k):
		return ""
	case id == holdAction:
		return w.k.t("“%s” lasts only while its key is held, so it needs a letter or a symbol.", w.k.name(id))
	}
	return w.k.t("Text fields need these keys.")
}

// setKeys puts keys into force and shows them everywhere; nil restores the usual ones.
func (w *window) setKeys(chosen settings.Keys) {
	w.c.session.Settings().Keys = chosen
	w.board.use(chosen)
	w.build()
}
