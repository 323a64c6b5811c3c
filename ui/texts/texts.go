// Package texts gives the window its words in the languages of the program.
package texts

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"

	"blik/assets/translations"
)

// Language is one that the program speaks, with its name in itself.
type Language struct{ Code, Name string }

// Languages lists them; the first is the fallback.
func Languages() []Language {
	return []Language{{"en", "English"}, {"ru", "Русский"}}
}

// Texts are the words of one language. The zero value is not usable; see New.
type Texts struct {
	lang   string
	source []byte
	loc    *i18n.Localizer
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
	source, err := translations.Files.ReadFile(code + ".json")
	if err != nil {
		return nil, fmt.Errorf("words of language %q: %w", code, err)
	}
	bundle := i18n.NewBundle(language.Make(code))
	bundle.RegisterUnmarshalFunc("json", json.Unmarshal)
	if _, err := bundle.ParseMessageFileBytes(source, code+".json"); err != nil {
		return nil, fmt.Errorf("words of language %q: %w", code, err)
	}
	return &Texts{lang: code, source: source, loc: i18n.NewLocalizer(bundle, code)}, nil
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
	return t.localize(&i18n.LocalizeConfig{MessageID: key, TemplateData: fieldMap(fields)})
}

// N returns the plural form of a key for n; the template sees it as {{.N}}.
func (t *Texts) N(key string, n int, fields ...any) string {
	data := fieldMap(fields)
	data["N"] = t.Int(n)
	return t.localize(&i18n.LocalizeConfig{MessageID: key, PluralCount: n, TemplateData: data})
}

func (t *Texts) localize(c *i18n.LocalizeConfig) string {
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

// Int writes n with its thousands set apart, as the language does.
func (t *Texts) Int(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "−", s[1:]
	}
	group := ","
	if t.lang == "ru" {
		group = "\u00a0"
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + group + s[i:]
	}
	return sign + s
}

// Number writes v with at most the given number of decimals and the language's decimal sign.
func (t *Texts) Number(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		s = "0"
	}
	if t.lang == "ru" {
		s = strings.Replace(s, ".", ",", 1)
	}
	return strings.Replace(s, "-", "−", 1)
}

// Megapixels writes how many millions of pixels w × h are, with one decimal, small ones with two.
func (t *Texts) Megapixels(w, h int) string {
	mp, decimals := float64(w)*float64(h)/1e6, 1
	if mp < 1 {
		decimals = 2
	}
	return t.Number(mp, decimals)
}

// ParseNumber is the inverse of Number; it takes a point or a comma, spaces and a sign of either kind.
func ParseNumber(s string) (float64, error) {
	s = strings.NewReplacer(",", ".", "−", "-", "\u00a0", "", " ", "").Replace(strings.TrimSpace(s))
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}
