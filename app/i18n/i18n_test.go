package i18n_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"blik/app/i18n"
	"blik/internal/message"
)

// A decimal point is one between two digits; names and ends of sentences keep theirs.
func TestDecimal(t *testing.T) {
	const text = "on cuda.0: 26.0 ×, from 1.44 to 10.0e-6. All 3."
	if got := i18n.For("ru").Decimal(text); got != "on cuda.0: 26,0 ×, from 1,44 to 10,0e-6. All 3." {
		t.Error(got)
	}
	if got := i18n.For("en").Decimal(text); got != text {
		t.Error(got)
	}
}

func TestFor(t *testing.T) {
	for code, want := range map[string]string{"ru": "ru", "ru_RU.UTF-8": "ru", "RU": "ru", "en": "en", "C": "en", "": "en", "de": "en"} {
		if got := i18n.For(code).Code(); got != want {
			t.Errorf("%q: %q", code, got)
		}
	}
	env := map[string]string{"LC_MESSAGES": "ru_RU", "LANG": "en_US"}
	if got := i18n.FromEnvironment(func(k string) string { return env[k] }); got != "ru" {
		t.Error(got)
	}
}

func TestNumbers(t *testing.T) {
	en, ru := i18n.For("en"), i18n.For("ru")
	for _, c := range []struct{ got, want string }{
		{en.Int(-1234567), "−1,234,567"}, {ru.Int(1234), "1\u00a0234"}, {en.Int(0), "0"},
		{en.Number(-0.5, 3), "−0.5"}, {ru.Number(2.5, 1), "2,5"}, {en.Number(-0.0001, 2), "0"},
		{ru.Fixed(7, 1), "7,0"}, {en.Fixed(-1.25, 1), "−1.2"},
		{ru.Sprint(message.Of("%.1f %s", 1.5, message.Figures("2.5"))), "1,5 2,5"},
		{en.Sprint(message.Of("%s", message.Capitalized{Message: message.Of("grey")})), "Grey"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// Errors are translated where they are localizable, also under errors that are not.
func TestError(t *testing.T) {
	inner := message.Errorf("%s: %w", "a.tif", fs.ErrNotExist)
	if !errors.Is(inner, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
	outer := fmt.Errorf("reading: %w", message.Errorf("cancelled"))
	if got := i18n.For("ru").Error(outer); got != "reading: прервано" {
		t.Error(got)
	}
	if got := i18n.For("en").Error(inner); got != "a.tif: file does not exist" {
		t.Error(got)
	}
}

// Russian has three forms where English has two.
func TestPlural(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]string{
		1: {"1 pixel", "1 пиксель"}, 3: {"3 pixels", "3 пикселя"}, 5: {"5 pixels", "5 пикселей"},
		11: {"11 pixels", "11 пикселей"}, 21: {"21 pixels", "21 пиксель"},
	} {
		for i, code := range []string{"en", "ru"} {
			tr := i18n.For(code)
			if got := tr.Plural(n, "%s pixel", "%s pixels", tr.Int(n)); got != want[i] {
				t.Errorf("%s: %q, want %q", code, got, want[i])
			}
		}
	}
}

// The separator of joined messages is literal.
func TestJoin(t *testing.T) {
	t.Parallel()
	for separator, want := range map[string]string{", ": "grey, grey", " % ": "grey % grey", "": "greygrey"} {
		if got := message.Join(separator, message.Of("grey"), message.Of("grey")).String(); got != want {
			t.Errorf("%q: %q, want %q", separator, got, want)
		}
	}
	if got := message.Join(", ").String(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
