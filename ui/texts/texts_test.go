package texts_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"blik/app/i18n"
	"blik/assets/translations"
	"blik/ui/texts"
)

// load returns the entries of a language: a text, or its plural forms.
func load(t *testing.T, code string) map[string]map[string]string {
	t.Helper()
	data, err := translations.Window.ReadFile("window/" + code + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatalf("%s.json: %v", code, err)
	}
	all := map[string]map[string]string{}
	for key, value := range raw {
		forms := map[string]string{}
		if err := json.Unmarshal(value, &forms); err != nil {
			var text string
			if err := json.Unmarshal(value, &text); err != nil {
				t.Fatalf("%s.json: %s is neither a text nor plural forms", code, key)
			}
			forms = map[string]string{"": text}
		}
		all[key] = forms
	}
	return all
}

var templateField = regexp.MustCompile(`{{\.\w+}}`)

func fields(text string) []string {
	f := templateField.FindAllString(text, -1)
	slices.Sort(f)
	return f
}

func TestLanguagesHoldTheSameTexts(t *testing.T) {
	forms := map[string][]string{"en": {"one", "other"}, "ru": {"few", "many", "one", "other"}}
	en := load(t, "en")
	for _, l := range texts.Languages() {
		own := load(t, l.Code)
		for key := range own {
			if en[key] == nil {
				t.Errorf("%s.json: %s is not in en.json", l.Code, key)
			}
		}
		for key, english := range en {
			mine := own[key]
			if mine == nil {
				t.Errorf("%s.json: %s is missing", l.Code, key)
				continue
			}
			_, single := english[""]
			if _, ok := mine[""]; ok != single {
				t.Errorf("%s.json: %s has plural forms in one language alone", l.Code, key)
				continue
			}
			want := fields(english[""] + english["other"])
			for form, text := range mine {
				if text == "" {
					t.Errorf("%s.json: %s is empty", l.Code, key)
				}
				if !single && !slices.Contains(forms[l.Code], form) {
					t.Errorf("%s.json: %s has the form %q, which the language does not know", l.Code, key, form)
				}
				if got := fields(text); !slices.Equal(got, want) {
					t.Errorf("%s.json: %s %s has the fields %v, in English %v", l.Code, key, form, got, want)
				}
			}
			if !single && len(mine) != len(forms[l.Code]) {
				t.Errorf("%s.json: %s has %d plural forms, the language has %v", l.Code, key, len(mine), forms[l.Code])
			}
		}
	}
}

func TestNew(t *testing.T) {
	for code, want := range map[string]string{
		"ru": "ru", "ru_RU.UTF-8": "ru", "RU-ru": "ru", "en": "en", "en_GB": "en", "de": "en", "": "en", "C": "en",
	} {
		w, err := texts.New(code)
		if err != nil || w.Lang() != want {
			t.Errorf("New(%q) speaks %v (%v), expected %s", code, w.Lang(), err, want)
		}
	}
}

func TestTexts(t *testing.T) {
	en, _ := texts.New("en")
	ru, _ := texts.New("ru")
	for _, c := range []struct{ got, want string }{
		{en.T("button.save"), "Save"},
		{ru.T("button.save"), "Сохранить"},
		{en.T("status.saved", "Path", "a.png"), "Mask saved: a.png"},
		{en.T("no.such.key"), "no.such.key"},
		{en.N("status.done", 1), "Found 1 glint"},
		{en.N("status.done", 1234), "Found 1,234 glints"},
		{ru.N("status.done", 1), "Найден 1 блик"},
		{ru.N("status.done", 3), "Найдено 3 блика"},
		{ru.N("status.done", 5), "Найдено 5 бликов"},
		{ru.N("status.done", 11), "Найдено 11 бликов"},
		{ru.N("status.done", 1021), "Найден 1\u00a0021 блик"},
		{ru.N("count.changed", 1), "изменён 1 пиксель"},
		{ru.N("count.changed", 23), "изменены 23 пикселя"},
		{ru.N("count.changed", 112), "изменено 112 пикселей"},
		{en.Megapixels(5300, 3533), "18.7"},
		{ru.Megapixels(260, 190), "0,05"},
		{en.Int(-12345), "−12,345"},
		{en.Int(999), "999"},
		{en.Number(0.5, 3), "0.5"},
		{ru.Number(0.5, 3), "0,5"},
		{ru.Number(-20, 3), "−20"},
		{en.Number(-0.0001, 2), "0"},
		{en.Number(1200, 2), "1200"},
	} {
		if c.got != c.want {
			t.Errorf("%q, expected %q", c.got, c.want)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{"1.5": 1.5, " 1,5 ": 1.5, "−20": -20, "1\u00a0000": 1000} {
		if got, err := i18n.ParseNumber(text); err != nil || got != want {
			t.Errorf("ParseNumber(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "abc", "1.2.3"} {
		if v, err := i18n.ParseNumber(text); err == nil {
			t.Errorf("ParseNumber(%q) = %v, an error expected", text, v)
		}
	}
	if v, err := i18n.ParseNumber("NaN"); err == nil {
		t.Errorf("ParseNumber(NaN) = %v, an error expected", v)
	}
}
