// Package i18n writes messages, numbers and errors in the language of the user.
//
// Translations are JSON files in assets/translations, one a language, named by its ISO 639-1 code; a new language needs
// only a new file. English texts are in the code; the English file holds only the words of the toolkit.
package i18n

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"blik/assets/translations"
	"blik/internal/message"
)

// English is the code of the language in which the texts are written.
const English = "en"

// Language is a language of the program, with its native name.
type Language struct{ Code, Name string }

// file is the content of a translation file.
type file struct {
	// Name is the native name of the language.
	Name string `json:"name"`
	// Decimal is the decimal separator, Group the thousands separator.
	Decimal string `json:"decimal"`
	Group   string `json:"group"`
	// Keyboard lists the characters of the language's usual keyboard layout and, in the same order, those of the same
	// keys of a US keyboard; both are empty for Latin layouts.
	Keyboard [2]string `json:"keyboard"`
	// Toolkit holds the words of Fyne's own dialogs.
	Toolkit json.RawMessage `json:"toolkit"`
	// Messages maps an English text, after its context and "|" if it has one, to its translation.
	Messages map[string]translation `json:"messages"`
}

// translation is a text, or one text for each CLDR plural form.
type translation struct {
	text  string
	forms map[string]string
}

func (t *translation) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &t.text)
	}
	return json.Unmarshal(data, &t.forms)
}

// files returns the translation files by the code of their language. They are embedded in the program and a test reads
// each of them, so unreadable files are simply skipped.
var files = sync.OnceValue(func() map[string]*file {
	all := map[string]*file{}
	names, _ := fs.Glob(translations.Files, "*.json") // fails only for a malformed pattern
	for _, name := range names {
		if f, err := read(name); err == nil {
			all[strings.TrimSuffix(name, ".json")] = f
		}
	}
	return all
})

func read(name string) (*file, error) {
	data, err := translations.Files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f := new(file)
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// Languages lists the languages of the program: English, then the others by their codes.
func Languages() []Language {
	all := []Language{{English, files()[English].Name}}
	for _, code := range slices.Sorted(maps.Keys(files())) {
		if code != English {
			all = append(all, Language{code, files()[code].Name})
		}
	}
	return all
}

// AllLanguages returns a message in all languages of the program, by their codes.
func AllLanguages(m message.Message) map[string]string {
	all := map[string]string{}
	for _, l := range Languages() {
		all[l.Code] = For(l.Code).Sprint(m)
	}
	return all
}

// Printer writes in one language; For returns it.
type Printer struct {
	code string
	tag  language.Tag
	file *file
}

// For returns the printer of a language, or of English if the program does not have the language. A region or encoding
// in the code ("ru_RU.UTF-8") is ignored.
func For(code string) *Printer {
	code = strings.ToLower(code)
	if i := strings.IndexAny(code, "_-.@"); i >= 0 {
		code = code[:i]
	}
	if f, ok := files()[code]; ok {
		return &Printer{code: code, tag: language.Make(code), file: f}
	}
	return &Printer{code: English, tag: language.English, file: files()[English]}
}

// Code returns the language's ISO 639-1 code.
func (p *Printer) Code() string { return p.code }

// Toolkit returns the words of Fyne's own dialogs as a JSON object, so that they follow the language chosen in the
// program and not the system's.
func (p *Printer) Toolkit() []byte { return p.file.Toolkit }

// Latin returns the character of the same key on a US keyboard; r itself if the language uses a Latin layout.
func (p *Printer) Latin(r rune) rune { return across(p.file.Keyboard[0], p.file.Keyboard[1], r) }

// Local is the inverse of Latin.
func (p *Printer) Local(r rune) rune { return across(p.file.Keyboard[1], p.file.Keyboard[0], r) }

func across(from, to string, r rune) rune {
	if i := slices.Index([]rune(from), r); i >= 0 {
		return []rune(to)[i]
	}
	return r
}

// Sprintf writes the translation of a format with its arguments, which are those of message.Of.
func (p *Printer) Sprintf(format message.Text, args ...any) string {
	return p.Sprint(message.Of(format, args...))
}

// Plural writes a message with plural forms; see message.Plural.
func (p *Printer) Plural(n int, one, other message.Text, args ...any) string {
	return p.Sprint(message.Plural(n, one, other, args...))
}

// Sprint writes a message, in English if it has no translation.
func (p *Printer) Sprint(m message.Message) string {
	format, args := m.English()
	if t, ok := p.file.Messages[m.Key()]; ok {
		format = p.form(t, m)
	}
	if len(args) == 0 {
		return format
	}
	local := make([]any, len(args))
	for i, a := range args {
		local[i] = p.argument(a)
	}
	return message.Format(format, local)
}

// form returns the plural form of a translation that m's count requires.
func (p *Printer) form(t translation, m message.Message) string {
	if t.forms == nil {
		return t.text
	}
	n, _ := m.Count()
	name := [...]string{plural.Other: "other", plural.Zero: "zero", plural.One: "one", plural.Two: "two",
		plural.Few: "few", plural.Many: "many"}[plural.Cardinal.MatchPlural(p.tag, max(n, -n), 0, 0, 0, 0)]
	if text, ok := t.forms[name]; ok {
		return text
	}
	return t.forms["other"]
}

// argument returns the localised form of an argument of a message.
func (p *Printer) argument(a any) any {
	switch a := a.(type) {
	case message.Message:
		return p.Sprint(a)
	case message.Text:
		return p.Sprint(message.Of(a))
	case message.Capitalized:
		return message.Capitalize(p.Sprint(a.Message))
	case message.Figures:
		return p.Decimal(string(a))
	case error:
		return p.Error(a)
	case float32:
		return decimal{float64(a), p}
	case float64:
		return decimal{a, p}
	}
	return a
}

// decimal is a float that is written with the language's decimal separator.
type decimal struct {
	v float64
	p *Printer
}

func (d decimal) Format(state fmt.State, verb rune) {
	fmt.Fprint(state, d.p.Decimal(fmt.Sprintf(fmt.FormatString(state, verb), d.v)))
}

// Error writes an error. If it wraps a localizable error, the wrapped error's part of the text is translated.
func (p *Printer) Error(err error) string {
	if l, ok := err.(message.Localizable); ok {
		return p.Sprint(l.Message())
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var plain, said []string
		for _, one := range several.Unwrap() {
			plain, said = append(plain, one.Error()), append(said, p.Error(one))
		}
		if strings.Join(plain, "\n") == err.Error() {
			return strings.Join(said, "\n")
		}
	}
	if l, ok := errors.AsType[message.Localizable](err); ok {
		return strings.Replace(err.Error(), l.Error(), p.Sprint(l.Message()), 1)
	}
	return err.Error()
}

// Int writes n with thousands separators.
func (p *Printer) Int(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "−", s[1:]
	}
	group := p.file.Group
	if group == "" {
		group = ","
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + group + s[i:]
	}
	return sign + s
}

// Number writes v with at most the given number of decimals.
func (p *Printer) Number(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		s = "0"
	}
	return strings.Replace(p.Decimal(s), "-", "−", 1)
}

// Fixed is Number with all decimals, for columns of figures.
func (p *Printer) Fixed(v float64, decimals int) string {
	return strings.Replace(p.Decimal(strconv.FormatFloat(v, 'f', decimals, 64)), "-", "−", 1)
}

// Decimal replaces each point between two digits by the language's decimal separator.
func (p *Printer) Decimal(figures string) string {
	if p.file.Decimal == "" {
		return figures
	}
	var b strings.Builder
	digit := func(i int) bool { return i >= 0 && i < len(figures) && figures[i] >= '0' && figures[i] <= '9' }
	for i := range len(figures) {
		if figures[i] == '.' && digit(i-1) && digit(i+1) {
			b.WriteString(p.file.Decimal)
		} else {
			b.WriteByte(figures[i])
		}
	}
	return b.String()
}

// Megapixels writes how many millions of pixels w × h are, with one decimal, small ones with two.
func (p *Printer) Megapixels(w, h int) string {
	mp, decimals := float64(w)*float64(h)/1e6, 1
	if mp < 1 {
		decimals = 2
	}
	return p.Number(mp, decimals)
}

// ParseNumber is the inverse of Number in every language: it takes a point or a comma, spaces and a sign of either
// kind.
func ParseNumber(s string) (float64, error) {
	s = strings.NewReplacer(",", ".", "−", "-", "\u00a0", "", " ", "").Replace(strings.TrimSpace(s))
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}

// FromEnvironment returns the language of the environment variables in the order of POSIX (XBD 8.2), without these the
// language chosen in Windows, and English if the program does not have the language.
func FromEnvironment(getenv func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := getenv(name); v != "" {
			return For(v).Code()
		}
	}
	return For(preferred()).Code()
}
