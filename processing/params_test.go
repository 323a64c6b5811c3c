package processing

import (
	"math"
	"strings"
	"testing"
	"unicode"

	"blik/app/i18n"
	"blik/internal/message"

	"pgregory.net/rapid"
)

func TestSpecsDescribeEveryField(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range Specs() {
		if seen[s.ID] {
			t.Errorf("%s is described twice", s.ID)
		}
		seen[s.ID] = true
		if err := s.Check(s.Default()); err != nil {
			t.Errorf("default: %v", err)
		}
		for _, text := range []message.Message{s.Name, s.Help, s.Group.Name} {
			if text.IsZero() || !strings.ContainsFunc(i18n.For("ru").Sprint(text),
				func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) {
				t.Errorf("%s: a text is missing: %q, %q", s.ID, text.String(), i18n.For("ru").Sprint(text))
			}
		}
		// Setting one parameter changes this one and no other.
		v := s.Min
		if v == s.Default() {
			v = s.Max
		}
		p := DefaultParams()
		if err := s.Set(&p, v); err != nil {
			t.Fatal(err)
		}
		if p == DefaultParams() {
			t.Errorf("%s: setting it changes nothing", s.ID)
		}
		for _, other := range Specs() {
			want := other.Default()
			if other.ID == s.ID {
				want = v
			}
			if got := other.Get(p); got != want {
				t.Errorf("after setting %s, %s is %v, want %v", s.ID, other.ID, got, want)
			}
		}
	}
	if err := DefaultParams().Validate(); err != nil {
		t.Error(err)
	}
}

func TestSpecFormatParse(t *testing.T) {
	t.Parallel()
	specs := Specs()
	rapid.Check(t, func(t *rapid.T) {
		s := specs[rapid.IntRange(0, len(specs)-1).Draw(t, "spec")]
		v := rapid.Float64Range(s.Min, s.Max).Draw(t, "value")
		if s.Kind != KindReal {
			v = math.Trunc(v)
		}
		if s.Kind == KindOdd && int(v)%2 == 0 {
			if _, err := s.Parse(s.Format(v)); err == nil {
				t.Fatalf("%s takes the even %v", s.ID, v)
			}
			return
		}
		got, err := s.Parse(s.Format(v))
		if err != nil || got != v {
			t.Fatalf("%s: %v is written %q and read %v (%v)", s.ID, v, s.Format(v), got, err)
		}
	})
}

func TestSpecRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, text, says string }{
		{"window", "12", "odd"},
		{"window", "1", "between"},
		{"window", "65", "between"},
		{"level", "1.5", "whole"},
		{"level", "bright", "number"},
		{"contrast", "NaN", "between"},
		{"fill", "maybe", "true or false"},
		{"mode", "magic", "adaptive"},
	} {
		s, ok := SpecByID(c.id)
		if !ok {
			t.Fatalf("no parameter %s", c.id)
		}
		_, err := s.Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.id) {
			t.Errorf("%s = %s: %v", c.id, c.text, err)
		}
	}
	s, _ := SpecByID("contrast")
	if v, err := s.Parse("12,5"); err != nil || v != 12.5 {
		t.Errorf("a decimal comma reads as %v, %v", v, err)
	}
}
