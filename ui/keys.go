package ui

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"blik/app/i18n"
	"blik/app/settings"
	"blik/ui/keyset"
)

// keyboard runs actions on single keys while no field has the focus. The driver has no names for the keys of a Cyrillic
// keyboard, so a letter is recognised by the character it types, whatever the language of the window.
type keyboard struct {
	w *window
	// runes and named map characters and other keys to actions.
	runes map[rune]string
	named map[fyne.KeyName]string
	// also are the shortcuts registered with the canvas.
	also []fyne.Shortcut
	// last is the scan code of the last pressed key, typed that of the key whose character has run an action.
	last, typed int
}

// use puts the chosen keys into force.
func (k *keyboard) use(chosen settings.Keys) {
	k.w.k.actions.use(chosen)
	k.runes, k.named = map[rune]string{}, map[fyne.KeyName]string{}
	canvas := k.w.win.Canvas()
	for _, s := range k.also {
		canvas.RemoveShortcut(s)
	}
	k.also = nil
	for id, a := range k.w.k.actions.table {
		for _, r := range a.keys {
			for _, l := range i18n.Languages() {
				k.runes[i18n.For(l.Code).Local(r)] = id
			}
		}
		for _, name := range a.named {
			k.named[name] = id
		}
		for _, s := range a.also {
			canvas.AddShortcut(s, func(fyne.Shortcut) { k.w.k.actions.do(id) })
			k.also = append(k.also, s)
		}
	}
}

// keyName returns the single key of an action that is shown, if it has one. Keys that everybody knows are not shown
// unless the user chose them.
func (a *action) keyName() fyne.KeyName {
	if a.keys != "" {
		r, _ := utf8.DecodeRuneInString(a.keys)
		return fyne.KeyName(strings.ToUpper(string(r)))
	}
	for _, k := range a.named {
		if shown, ok := keyset.ShownNames()[k]; ok {
			return shown
		}
		if k == fyne.KeyDelete || strings.HasPrefix(string(k), "F") && k != fyne.KeyF3 ||
			!slices.Contains(a.usual.Named, k) {
			return k
		}
	}
	return ""
}

// keyText returns the keys of an action, with the character on the keyboard of the language if that differs.
func (k *kit) keyText(id string) string {
	a := k.actions.table[id]
	var parts []string
	if text := keyset.Text(a.shortcut); text != "" {
		parts = append(parts, text)
	}
	if name := a.keyName(); name != "" {
		parts = append(parts, string(name))
	}
	if local := k.localKey(a); a.keys != "" && !slices.Contains(parts, local) {
		parts = append(parts, local)
	}
	return strings.Join(parts, ", ")
}

// localKey returns the character of an action on the keyboard of the language; empty if there is none.
func (k *kit) localKey(a *action) string {
	r, n := utf8.DecodeRuneInString(a.keys)
	if n == 0 {
		return ""
	}
	return strings.ToUpper(string(k.texts.Local(r)))
}

// press returns the key of an action for use in a sentence: the single key, or the action's name in quotes if it has
// none.
func (k *kit) press(id string) string {
	a := k.actions.table[id]
	if local := k.localKey(a); local != "" {
		return local
	}
	if name := a.keyName(); name != "" {
		return string(name)
	}
	if text := keyset.Text(a.shortcut); text != "" {
		return text
	}
	return k.t("“%s”", k.name(id))
}

// Rune runs the action of a character. The driver reports the character of a key after the key itself, so the action
// that lasts while its key is held begins here and ends with the last pressed key.
func (k *keyboard) Rune(r rune) {
	id, ok := k.runes[unicode.ToLower(r)]
	repeated := k.last != 0 && k.typed == k.last
	k.typed = k.last
	switch {
	case !ok || k.w.dialogOpen():
	case repeated && k.w.k.actions.table[id].checked != nil && id != holdAction:
		// What a key turns on and off would flicker while it is held.
	case id == holdAction && k.w.k.actions.can(id):
		k.w.k.display.holdKey(k.last)
	default:
		k.w.k.actions.do(id)
	}
}

// Key runs the action of a key that types no character. Escape and Enter answer an open dialog.
func (k *keyboard) Key(e *fyne.KeyEvent) {
	if k.w.k.prompts.Key(e.Name) {
		return
	}
	if id, ok := k.named[e.Name]; ok && !k.w.dialogOpen() {
		k.w.k.actions.do(id)
	}
}

// Down turns any tool into the hand while the space bar is held, and remembers the key for Rune.
func (k *keyboard) Down(e *fyne.KeyEvent) {
	k.last, k.typed = e.Physical.ScanCode, 0
	k.w.k.tips.Pressed(e)
	if e.Name == fyne.KeySpace && !k.w.dialogOpen() {
		k.w.k.display.setPanKey(true)
	}
}

// Up ends what Down began.
func (k *keyboard) Up(e *fyne.KeyEvent) {
	k.w.k.tips.Released(e)
	if e.Name == fyne.KeySpace {
		k.w.k.display.setPanKey(false)
	}
	if e.Physical.ScanCode == k.w.k.display.heldKey {
		k.w.k.display.holdKey(0)
	}
	if e.Physical.ScanCode == k.last {
		k.last = 0
	}
}

// listen handles the keys of a window in which nothing has the focus.
func (k *keyboard) listen(c fyne.Canvas) {
	c.SetOnTypedKey(k.Key)
	c.SetOnTypedRune(k.Rune)
	if d, ok := c.(desktop.Canvas); ok {
		d.SetOnKeyDown(k.Down)
		d.SetOnKeyUp(k.Up)
	}
}
