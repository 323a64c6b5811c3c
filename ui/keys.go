package ui

import (
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// keys runs actions by single keys while no field has the focus. Letters are told by the character they type, on a
// Latin and on a Russian keyboard alike, because the driver names no Cyrillic key.
type keys struct{ w *window }

// letterKeys maps characters to actions, the Latin key and the Russian one in the same place.
var letterKeys = map[rune]string{
	'h': "tool.pan", 'р': "tool.pan",
	'v': "tool.pick", 'м': "tool.pick",
	'b': "tool.brush", 'и': "tool.brush",
	'e': "tool.eraser", 'у': "tool.eraser",
	'r': "tool.rectangle", 'к': "tool.rectangle",
	'o': "tool.ellipse", 'щ': "tool.ellipse",
	'l': "tool.polygon", 'д': "tool.polygon",
	'f': "view.fit", 'а': "view.fit",
	'm': "view.mask", 'ь': "view.mask",
	'n': "find.next", 'т': "find.next",
	'p': "find.previous", 'з': "find.previous",
	'[': "brush.smaller", 'х': "brush.smaller",
	']': "brush.larger", 'ъ': "brush.larger",
	'+': "view.in", '=': "view.in",
	'-': "view.out",
	'a': "correct.selected", 'ф': "correct.selected",
	'x': "correct.remove", 'ч': "correct.remove",
	'c': holdAction, 'с': holdAction,
	's': "view.split", 'ы': "view.split",
}

// holdAction is what goes on only as long as its key is held.
const holdAction = "view.source"

// namedKeys maps keys that type no character.
var namedKeys = map[fyne.KeyName]string{
	fyne.KeyF1:        "help.keys",
	fyne.KeyF5:        "find.run",
	fyne.KeyF6:        "correct.all",
	fyne.KeyF8:        "view.timing",
	fyne.KeyF9:        "view.panel",
	fyne.KeyF3:        "find.next",
	fyne.KeyHome:      "view.fit",
	fyne.KeyEscape:    "escape",
	fyne.KeyReturn:    "region.finish",
	fyne.KeyEnter:     "region.finish",
	fyne.KeyBackspace: "region.back",
	fyne.KeyDelete:    "find.remove",
	fyne.KeyLeft:      "scroll.left",
	fyne.KeyRight:     "scroll.right",
	fyne.KeyUp:        "scroll.up",
	fyne.KeyDown:      "scroll.down",
}

// letterOf returns the character of an action on a Latin or on a Russian keyboard, 0 where it has none.
func letterOf(id string, russian bool) rune {
	for r, a := range letterKeys {
		if a == id && r != '=' && unicode.Is(unicode.Cyrillic, r) == russian {
			return unicode.ToUpper(r)
		}
	}
	return 0
}

// keyOf returns the key to show in the menu beside an action, as a shortcut that the driver never fires itself because
// it has no modifier.
func keyOf(id string) fyne.Shortcut {
	if r := letterOf(id, false); r != 0 {
		return &desktop.CustomShortcut{KeyName: fyne.KeyName(string(r))}
	}
	for _, k := range []fyne.KeyName{fyne.KeyF1, fyne.KeyF5, fyne.KeyF6, fyne.KeyF8, fyne.KeyF9, fyne.KeyDelete} {
		if namedKeys[k] == id {
			return &desktop.CustomShortcut{KeyName: k}
		}
	}
	return nil
}

// keyText writes the keys of an action; in Russian with the character of a Russian keyboard.
func (w *window) keyText(id string) string {
	var b strings.Builder
	single, _ := keyOf(id).(fyne.KeyboardShortcut)
	if s, ok := w.actions[id].shortcut.(fyne.KeyboardShortcut); ok {
		for _, m := range []struct {
			mod  fyne.KeyModifier
			name string
		}{{fyne.KeyModifierControl, "Ctrl+"}, {fyne.KeyModifierSuper, "⌘"}, {fyne.KeyModifierShift, "Shift+"}} {
			if s.Mod()&m.mod != 0 {
				b.WriteString(m.name)
			}
		}
		b.WriteString(string(s.Key()))
		if single != nil {
			b.WriteString(", ")
		}
	}
	if single != nil {
		b.WriteString(string(single.Key()))
	}
	if r := letterOf(id, true); r != 0 && w.texts.Lang() == "ru" {
		b.WriteString(", " + string(r))
	}
	return b.String()
}

// Rune runs the action of a character. Which character a key types comes only after the key itself, so the action that is
// held begins here and ends with the key pressed last.
func (k keys) Rune(r rune) {
	id, ok := letterKeys[unicode.ToLower(r)]
	switch {
	case !ok || k.w.dialogOpen():
	case id == holdAction:
		k.w.holdKey(k.w.lastKey)
	default:
		k.w.do(id)
	}
}

// Key runs the action of a key that types no character. Escape and Enter answer a dialog that lies over the content.
func (k keys) Key(e *fyne.KeyEvent) {
	if k.w.modals.Key(e.Name) {
		return
	}
	if id, ok := namedKeys[e.Name]; ok && !k.w.dialogOpen() {
		k.w.do(id)
	}
}

// Down makes any tool a hand while the space bar is held, and remembers the key for Rune.
func (k keys) Down(e *fyne.KeyEvent) {
	k.w.lastKey = e.Physical.ScanCode
	if e.Name == fyne.KeySpace && !k.w.dialogOpen() {
		k.w.port.SetPanKey(true)
	}
}

// Up ends what Down began.
func (k keys) Up(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace {
		k.w.port.SetPanKey(false)
	}
	if e.Physical.ScanCode == k.w.heldKey {
		k.w.holdKey(0)
	}
	if e.Physical.ScanCode == k.w.lastKey {
		k.w.lastKey = 0
	}
}

// listen takes the keys of a window in which nothing has the focus.
func (k keys) listen(c fyne.Canvas) {
	c.SetOnTypedKey(k.Key)
	c.SetOnTypedRune(k.Rune)
	if d, ok := c.(desktop.Canvas); ok {
		d.SetOnKeyDown(k.Down)
		d.SetOnKeyUp(k.Up)
	}
}
