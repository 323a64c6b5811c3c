package ui

import (
	"encoding/json"
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

	"blik/assets/translations"
	"blik/internal/message"
	"blik/processing"
)

// literal is a text in the source of ui, with the name of the function or the method that it is an argument of.
type literal struct {
	text, call string
	pos        token.Position
}

// literals returns the texts in the source of ui and its packages, tests, imports and struct tags left out.
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

func keysOf(t *testing.T) map[string]bool {
	t.Helper()
	data, err := translations.Window.ReadFile("window/en.json")
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for k := range raw {
		keys[k] = true
	}
	return keys
}

// Every key in the source is in the tables, and every key of the tables is in the source.
func TestKeysAreUsed(t *testing.T) {
	keys := keysOf(t)
	used := map[string]bool{}
	prefixes := []string{"action.", "appearance.", "hint."}
	for _, l := range literals(t) {
		switch l.call {
		case "t", "T", "N", "menu":
			if !strings.Contains(l.text, ".") || strings.HasSuffix(l.text, ".") {
				continue
			}
			if l.call == "menu" && !strings.HasPrefix(l.text, "menu.") {
				continue
			}
			if !keys[l.text] {
				t.Errorf("%s: %q is not in the tables", l.pos, l.text)
			}
		}
		used[l.text] = true
	}
	h := newHarness(t, "en")
	for id := range h.actions.table {
		used["action."+id] = true
	}
	for _, a := range appearances() {
		used["appearance."+string(a)] = true
	}
	for _, id := range toolSpecs() {
		used["hint."+id.ID] = true
	}
	methods, _ := processing.SpecByID("method")
	for _, c := range methods.Choices {
		if !keys["method."+c.ID] {
			t.Errorf("method %s has no short name", c.ID)
		}
		used["method."+c.ID] = true
	}
	for key := range keys {
		own := strings.Contains(key, ".") && !strings.HasPrefix(key, "file.")
		if own && !used[key] {
			t.Errorf("%q is in the tables and nowhere in the source", key)
		}
	}
	for _, p := range prefixes {
		for key := range keys {
			if strings.HasPrefix(key, p) && !used[key] {
				t.Errorf("%q belongs to nothing", key)
			}
		}
	}
}

// showing are the functions whose arguments a user reads.
var showing = map[string]bool{
	"NewLabel": true, "NewLabelWithStyle": true, "NewButton": true, "NewButtonWithIcon": true, "NewCheck": true,
	"NewMenuItem": true, "NewMenu": true, "NewTabItem": true, "NewCustom": true, "NewCustomConfirm": true,
	"NewCustomWithoutButtons": true, "NewConfirm": true, "SetText": true, "ShowText": true, "say": true,
	"NewHelpLabel": true, "NewToolButton": true, "SetPlaceHolder": true, "SetTitle": true, "ShowLater": true,
	"SetConfirmText": true, "SetDismissText": true, "SetTitleText": true, "NewText": true, "NewInformation": true,
	"NewHoldButton": true, "showSentence": true, "ask": true,
}

// What a user reads comes from the tables, in both languages.
func TestNoTextOutsideTheTables(t *testing.T) {
	checked := 0
	for _, l := range literals(t) {
		if showing[l.call] {
			checked++
			if strings.ContainsFunc(l.text, unicode.IsLetter) {
				t.Errorf("%s: %q goes to the user past the tables", l.pos, l.text)
			}
		}
		if strings.ContainsFunc(l.text, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) && l.call != "Languages" && l.text != "Русский" {
			t.Errorf("%s: %q is Russian outside the tables", l.pos, l.text)
		}
	}
	if checked == 0 {
		t.Fatal("nothing was checked")
	}
}

// The parameters' names and helps come from processing; they must be there in Russian as well.
func TestParametersSpeakRussian(t *testing.T) {
	for _, s := range processing.Specs() {
		for name, text := range map[string]message.Message{"name": s.Name, "help": s.Help, "group": s.Group.Name} {
			if text.IsZero() {
				t.Errorf("%s has no %s in one language", s.ID, name)
			}
		}
	}
}

// What to do next is said in the width that the panel has for it.
func TestNextStepFits(t *testing.T) {
	for _, lang := range []string{"en", "ru"} {
		h := newHarness(t, lang)
		h.win.Resize(fyne.NewSize(1024, 700))
		said := []string{h.t("hint.open"), h.t("next.mask"), h.t("next.replaced")}
		for _, n := range []int{1, 3, 12, 98765} {
			said = append(said, h.texts.N("next.correct", n), h.texts.N("next.save", n), h.texts.N("next.saved", n))
		}
		room := h.panel.next.Size().Width
		for _, s := range said {
			if width := fyne.MeasureText(s, theme.Size(theme.SizeNameCaptionText)+1, fyne.TextStyle{}).Width; width > room {
				t.Errorf("%q is %g wide, there is room for %g", s, width, room)
			}
		}
	}
}
