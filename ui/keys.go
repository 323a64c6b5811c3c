package ui

import (
	"slices"
	"strings"
	"unicode"

	"blik/app/i18n"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// holdAction goes on only as long as its key is held.
const holdAction = "view.source"

// keyboard runs actions by single keys while no field has the focus. The driver names no key of a Cyrillic keyboard, so
// a letter is recognised by the character that it types, whatever the language of the window.
type keyboard struct {
	w *window
	// runes and named map characters and other keys to actions.
	runes map[rune]string
	named map[fyne.KeyName]string
	// last is the scan code of the key pressed last.
	last int
}

func newKeyboard(w *window) *keyboard {
	k := &keyboard{w: w, runes: map[rune]string{}, named: map[fyne.KeyName]string{}}
	for id, a := range w.actions.table {
		for _, r := range a.keys {
			for _, l := range i18n.Languages() {
				k.runes[i18n.For(l.Code).Local(r)] = id
			}
		}
		for _, name := range a.named {
			k.named[name] = id
		}
	}
	return k
}

// keyName returns the single key of an action that is shown, if it has one. Keys that everybody knows are not.
func (a *action) keyName() fyne.KeyName {
	if a.keys != "" {
		return fyne.KeyName(strings.ToUpper(a.keys[:1]))
	}
	for _, k := range a.named {
		switch k {
		case fyne.KeyPageUp:
			return "PageUp"
		case fyne.KeyPageDown:
			return "PageDown"
		}
		if k == fyne.KeyDelete || strings.HasPrefix(string(k), "F") && k != fyne.KeyF3 {
			return k
		}
	}
	return ""
}

// keyText writes the keys of an action, with the character of the keyboard of the language if that is another.
func (c *common) keyText(id string) string {
	a := c.actions.table[id]
	var parts []string
	if s, ok := a.shortcut.(fyne.KeyboardShortcut); ok {
		text := ""
		for _, m := range []struct {
			mod  fyne.KeyModifier
			name string
		}{{fyne.KeyModifierControl, "Ctrl+"}, {fyne.KeyModifierSuper, "⌘"}, {fyne.KeyModifierShift, "Shift+"}} {
			if s.Mod()&m.mod != 0 {
				text += m.name
			}
		}
		parts = append(parts, text+string(s.Key()))
	}
	if name := a.keyName(); name != "" {
		parts = append(parts, string(name))
	}
	if a.keys != "" {
		if local := strings.ToUpper(string(c.texts.Local(rune(a.keys[0])))); !slices.Contains(parts, local) {
			parts = append(parts, local)
		}
	}
	return strings.Join(parts, ", ")
}

// Rune runs the action of a character. Which character a key types comes only after the key itself, so the action that
// is held begins here and ends with the key pressed last.
func (k *keyboard) Rune(r rune) {
	id, ok := k.runes[unicode.ToLower(r)]
	switch {
	case !ok || k.w.dialogOpen():
	case id == holdAction:
		k.w.display.holdKey(k.last)
	default:
		k.w.actions.do(id)
	}
}

// Key runs the action of a key that types no character. Escape and Enter answer a dialog that lies over the content.
func (k *keyboard) Key(e *fyne.KeyEvent) {
	if k.w.prompts.modals.Key(e.Name) {
		return
	}
	if id, ok := k.named[e.Name]; ok && !k.w.dialogOpen() {
		k.w.actions.do(id)
	}
}

// Down makes any tool a hand while the space bar is held, and remembers the key for Rune.
func (k *keyboard) Down(e *fyne.KeyEvent) {
	k.last = e.Physical.ScanCode
	if e.Name == fyne.KeySpace && !k.w.dialogOpen() {
		k.w.display.setPanKey(true)
	}
}

// Up ends what Down began.
func (k *keyboard) Up(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace {
		k.w.display.setPanKey(false)
	}
	if e.Physical.ScanCode == k.w.display.heldKey {
		k.w.display.holdKey(0)
	}
	if e.Physical.ScanCode == k.last {
		k.last = 0
	}
}

// listen takes the keys of a window in which nothing has the focus.
func (k *keyboard) listen(c fyne.Canvas) {
	c.SetOnTypedKey(k.Key)
	c.SetOnTypedRune(k.Rune)
	if d, ok := c.(desktop.Canvas); ok {
		d.SetOnKeyDown(k.Down)
		d.SetOnKeyUp(k.Up)
	}
}
