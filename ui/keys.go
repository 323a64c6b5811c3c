package ui

import (
	"slices"
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"blik/ui/texts"
)

// holdAction goes on only as long as its key is held.
const holdAction = "view.source"

// latin are the letters of a keyboard, row by row; the rows of other keyboards stand in the language files.
const latin = "qwertyuiop[]asdfghjkl;'zxcvbnm,."

// keyboard runs actions by single keys while no field has the focus. The driver names no key of a Cyrillic keyboard, so a
// letter is recognised by the character that it types, whatever the language of the window.
type keyboard struct {
	w *window
	// runes and named map characters and other keys to actions.
	runes map[rune]string
	named map[fyne.KeyName]string
	// last is the scan code of the key pressed last.
	last int
}

func newKeyboard(w *window) (*keyboard, error) {
	k := &keyboard{w: w, runes: map[rune]string{}, named: map[fyne.KeyName]string{}}
	var layouts [][]rune
	for _, l := range texts.Languages() {
		words, err := texts.New(l.Code)
		if err != nil {
			return nil, err
		}
		layouts = append(layouts, layoutOf(words))
	}
	for id, a := range w.actions.table {
		for _, r := range a.keys {
			k.runes[r] = id
			for _, layout := range layouts {
				if local := onLayout(layout, r); local != 0 {
					k.runes[local] = id
				}
			}
		}
		for _, name := range a.named {
			k.named[name] = id
		}
	}
	return k, nil
}

// layoutOf returns the letters of the keyboard of a language, in the order of latin.
func layoutOf(words *texts.Texts) []rune { return []rune(words.T("keyboard.rows")) }

// onLayout returns the character where a Latin keyboard has r; 0 where there is none.
func onLayout(layout []rune, r rune) rune {
	if i := strings.IndexRune(latin, r); i >= 0 && i < len(layout) {
		return layout[i]
	}
	return 0
}

// keyName returns the single key of an action that is shown, if it has one. Keys that everybody knows are not.
func (a *action) keyName() fyne.KeyName {
	if a.keys != "" {
		return fyne.KeyName(strings.ToUpper(a.keys[:1]))
	}
	for _, k := range a.named {
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
		local := strings.ToUpper(string(onLayout(layoutOf(c.texts), rune(a.keys[0]))))
		if local != "\x00" && !slices.Contains(parts, local) {
			parts = append(parts, local)
		}
	}
	return strings.Join(parts, ", ")
}

// Rune runs the action of a character. Which character a key types comes only after the key itself, so the action that is
// held begins here and ends with the key pressed last.
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
		k.w.display.port.SetPanKey(true)
	}
}

// Up ends what Down began.
func (k *keyboard) Up(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace {
		k.w.display.port.SetPanKey(false)
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
