// Package texts gives the window its words in the languages of the program.
package texts

import (
	"encoding/json"
	"fmt"
	"strings"

	bundles "github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"

	"blik/app/i18n"
	"blik/assets/translations"
)

// Languages lists the languages of the program; the first is the fallback.
func Languages() []i18n.Language {
	return i18n.Languages()
}

// Texts are the words of one language. The zero value is not usable; see New.
type Texts struct {
	*i18n.Printer
	lang   string
	source []byte
	loc    *bundles.Localizer
}

// New loads the words of the language with the given code, or of the first one where the program does not speak it.
// A region or encoding behind the code ("ru_RU.UTF-8") is ignored.
func New(code string) (*Texts, error) {
	code = strings.ToLower(code)
	if i := strings.IndexAny(code, "_-.@"); i >= 0 {
		code = code[:i]
	}
	if !speaks(code) {
		code = Languages()[0].Code
	}
	source, err := translations.Window.ReadFile("window/" + code + ".json")
	if err != nil {
		return nil, fmt.Errorf("words of language %q: %w", code, err)
	}
	bundle := bundles.NewBundle(language.Make(code))
	bundle.RegisterUnmarshalFunc("json", json.Unmarshal)
	if _, err := bundle.ParseMessageFileBytes(source, code+".json"); err != nil {
		return nil, fmt.Errorf("words of language %q: %w", code, err)
	}
	return &Texts{Printer: i18n.For(code), lang: code, source: source, loc: bundles.NewLocalizer(bundle, code)}, nil
}

func speaks(code string) bool {
	for _, l := range Languages() {
		if l.Code == code {
			return true
		}
	}
	return false
}

// Lang returns the language's code.
func (t *Texts) Lang() string { return t.lang }

// Source returns the language's file, for Fyne's own dialogs.
func (t *Texts) Source() []byte { return t.source }

// T returns the text of a key. Fields are pairs of a template field's name and its value. An unknown key is returned
// as it is, so that it shows up.
func (t *Texts) T(key string, fields ...any) string {
	return t.localize(&bundles.LocalizeConfig{MessageID: key, TemplateData: fieldMap(fields)})
}

// N returns the plural form of a key for n; the template sees it as {{.N}}.
func (t *Texts) N(key string, n int, fields ...any) string {
	data := fieldMap(fields)
	data["N"] = t.Int(n)
	return t.localize(&bundles.LocalizeConfig{MessageID: key, PluralCount: n, TemplateData: data})
}

func (t *Texts) localize(c *bundles.LocalizeConfig) string {
	s, err := t.loc.Localize(c)
	if err != nil {
		return c.MessageID
	}
	return s
}

func fieldMap(fields []any) map[string]any {
	m := make(map[string]any, len(fields)/2+1)
	for i := 0; i+1 < len(fields); i += 2 {
		m[fmt.Sprint(fields[i])] = fields[i+1]
	}
	return m
}
