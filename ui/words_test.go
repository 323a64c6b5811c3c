package ui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"blik/app/session/store"
	"blik/app/settings"
	"blik/internal/test/testpic"
	"blik/processing"
)

// literal is a text in the source of ui, with the name of the function or method to which it is an argument.
type literal struct {
	text, call string
	pos        token.Position
}

// literals returns the texts in the source of ui and its packages, except tests, imports and struct tags.
func literals(t *testing.T) []literal {
	t.Helper()
	var all []literal
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		var calls []ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case nil:
				calls = calls[:len(calls)-1]
				return true
			case *ast.ImportSpec, *ast.Field:
				return false
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					text, err := strconv.Unquote(n.Value)
					if err != nil {
						return true
					}
					all = append(all, literal{text, innermost(calls), set.Position(n.Pos())})
				}
			}
			calls = append(calls, n)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// innermost returns the name of the innermost call.
func innermost(nodes []ast.Node) string {
	for i := len(nodes) - 1; i >= 0; i-- {
		if c, ok := nodes[i].(*ast.CallExpr); ok {
			switch f := c.Fun.(type) {
			case *ast.Ident:
				return f.Name
			case *ast.SelectorExpr:
				return f.Sel.Name
			}
		}
	}
	return ""
}

// showing are the functions whose arguments are shown to the user.
var showing = map[string]bool{
	"NewLabel": true, "NewLabelWithStyle": true, "NewButton": true, "NewButtonWithIcon": true, "NewCheck": true,
	"NewMenuItem": true, "NewMenu": true, "NewTabItem": true, "NewCustom": true, "NewCustomConfirm": true,
	"NewCustomWithoutButtons": true, "NewConfirm": true, "SetText": true, "ShowText": true, "say": true,
	"NewHelpLabel": true, "NewToolButton": true, "SetPlaceHolder": true, "SetTitle": true, "ShowLater": true,
	"SetConfirmText": true, "SetDismissText": true, "SetTitleText": true, "NewText": true, "NewInformation": true,
	"NewHoldButton": true, "showSentence": true, "ask": true,
}

// Texts shown to the user come from the catalogue, in both languages.
func TestNoTextOutsideTheTables(t *testing.T) {
	checked := 0
	for _, l := range literals(t) {
		if showing[l.call] {
			checked++
			if strings.ContainsFunc(l.text, unicode.IsLetter) {
				t.Errorf("%s: %q is shown without the catalogue", l.pos, l.text)
			}
		}
		if strings.ContainsFunc(l.text, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) &&
			l.call != "Languages" && l.text != "Русский" {
			t.Errorf("%s: %q is Russian outside the catalogue", l.pos, l.text)
		}
	}
	if checked == 0 {
		t.Fatal("no text was checked")
	}
}

// The next step fits into the width that the panel has for it.
func TestNextStepFits(t *testing.T) {
	testpic.NoRace(t)
	for _, lang := range []string{"en", "ru"} {
		h := newHarness(t, lang)
		h.win.Resize(fyne.NewSize(1024, 700))
		var said []string
		for step := store.StepOpen; step <= store.StepOverwritten; step++ {
			for _, n := range []int{1, 3, 12, 98765} {
				said = append(said, h.k.stepText(step, n))
			}
		}
		room := h.panel.next.Size().Width
		for _, s := range said {
			if width := fyne.MeasureText(s, theme.Size(theme.SizeNameCaptionText)+1,
				fyne.TextStyle{}).Width; width > room {
				t.Errorf("%q is %g wide, available are %g", s, width, room)
			}
		}
	}
}

// The next step names the chosen keys.
func TestNextNamesChosenKeys(t *testing.T) {
	h := newHarness(t, "ru").opened()
	h.setKeys(settings.Keys{"correct.all": "F11", "file.savePicture": "Ctrl+R"})
	if got := h.k.stepText(store.StepCorrect, 2); got != "2 находки не исправлены: нажмите F11" {
		t.Errorf("%q", got)
	}
	if got := h.k.stepText(store.StepSave, 1); got != "1 исправлена: сравните (С), сохраните (Ctrl+R)" {
		t.Errorf("%q", got)
	}
}

// A message that does not fit takes the place of the values under the pointer until that moves.
func TestLongMessage(t *testing.T) {
	testpic.NoRace(t)
	h := newHarness(t, "en").opened()
	h.win.Resize(fyne.NewSize(1040, 720))
	over := func(x float64) { h.status.hovered(processing.Point{X: x, Y: 5}, true) }
	over(5)
	h.k.say("Saved painting_corrected.tif. 6,143 pixels changed; every other pixel is the same")
	if h.status.message.Cut() {
		t.Error("the message is cut off")
	}
	over(5)
	if h.status.message.Cut() {
		t.Error("the message is cut off although the pointer has not moved")
	}
	over(6)
	if size := h.status.values.Size(); size.Width < h.status.values.MinSize().Width {
		t.Error("the values under the pointer are not shown")
	}
}

// The right end of the status bar stays inside the window when the name of the shown picture changes.
func TestStatusStaysInside(t *testing.T) {
	testpic.NoRace(t)
	for _, lang := range []string{"en", "ru"} {
		h := newHarness(t, lang).opened()
		h.win.Resize(fyne.NewSize(1280, 720))
		inside := func(when string) {
			t.Helper()
			d := fyne.CurrentApp().Driver()
			right := d.AbsolutePositionForObject(h.status.device).X + h.status.device.MinSize().Width
			if edge := d.AbsolutePositionForObject(h.status.object).X + h.status.object.Size().Width; right > edge {
				t.Errorf("%s, %s: the device ends at %g of %g", lang, when, right, edge)
			}
			if has, needs := h.status.compare.Size().Width, h.status.compare.MinSize().Width; has < needs {
				t.Errorf("%s, %s: %q has %g of the %g units it needs", lang, when, h.status.compare.Text(), has, needs)
			}
		}
		h.k.actions.do("find.run")
		h.settle()
		inside("found")
		h.k.actions.do("correct.all")
		h.settle()
		inside("corrected")
		h.k.actions.do("view.split")
		inside("split")
	}
}
