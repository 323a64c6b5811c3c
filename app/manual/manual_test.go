package manual

import (
	"bytes"
	"image/jpeg"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestSections(t *testing.T) {
	t.Parallel()
	got := sections("# Guide\n\n[Other](guide.ru.md) · [Blik](../README.md)\n\n![A window](a.png)\n\n" +
		"    blik a.tif\n    blik b.tif\n\nFirst.\n\n## Tour\n\nOne.\n\n![A](guide/a.jpg)\n\nTwo.\n\n![B](guide/b.jpg)\n\n## Keys\n\n| key | does |\n|---|---|\n| N | [next](x.md) one |\n| K, J | keeps | more |\n\nLast.\n")
	want := []Section{
		{Title: "Guide", Text: "    blik a.tif\n    blik b.tif\n\nFirst."},
		{Title: "Tour", Text: "One.", Pictures: []Picture{{Name: "guide/a.jpg", Alt: "A", Text: "Two."},
			{Name: "guide/b.jpg", Alt: "B"}}},
		{Title: "Keys", Text: "- **N** – next one\n- **K, J** – keeps: more\n\nLast."},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Nothing of the guide that a window cannot show is left, in every language.
func TestGuide(t *testing.T) {
	t.Parallel()
	english, err := Guide("en")
	if err != nil {
		t.Fatal(err)
	}
	russian, err := Guide("ru")
	if err != nil || len(russian) != len(english) || len(english) < 8 {
		t.Errorf("%d sections in English, %d in Russian, %v", len(english), len(russian), err)
	}
	pictures := 0
	for _, s := range slices.Concat(english, russian) {
		if s.Title == "" || s.Text == "" || strings.Contains(s.Text, "](") || strings.Contains(s.Text, "\n|") {
			t.Errorf("section %q holds what cannot be shown:\n%s", s.Title, s.Text)
		}
		for _, p := range s.Pictures {
			pictures++
			if _, err := jpeg.Decode(bytes.NewReader(p.JPEG)); err != nil || p.Alt == "" || len(p.JPEG) > 60<<10 {
				t.Errorf("%s: %q, %d bytes, %v", p.Name, p.Alt, len(p.JPEG), err)
			}
		}
	}
	if pictures != 20 {
		t.Errorf("%d pictures in both languages, want 20", pictures)
	}
	if other, err := Guide("xx"); err != nil || !reflect.DeepEqual(other, english) {
		t.Errorf("a language without a guide: %v", err)
	}
}
