package report_test

import (
	"bytes"
	"image"
	"image/color"
	"strings"
	"testing"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/app/thumbnail"
	"blik/internal/test/testpic"
	"blik/processing"
)

// The preview has the size asked for, is upright, and shows what is in the mask outlined.
func TestPreview(t *testing.T) {
	t.Parallel()
	f := &imagefile.File{Picture: testpic.Flat(400, 200, 3, 100), Orientation: 6}
	mask := processing.NewMask(400, 200)
	mask.Pix[60*400+300] = 255
	m, err := report.Preview(t.Context(), f, mask, 100)
	if err != nil || m.Bounds() != image.Rect(0, 0, 50, 100) {
		t.Fatalf("%v, %v", m.Bounds(), err)
	}
	// Stored at 75, 15 of 100 × 50; turned to the right that is 34, 75.
	for p, want := range map[image.Point]color.NRGBA{
		{X: 34, Y: 75}: {100, 100, 100, 255}, {X: 36, Y: 77}: {100, 100, 100, 255},
		{X: 37, Y: 75}: {255, 0, 0, 255}, {X: 31, Y: 72}: {255, 0, 0, 255}, {X: 34, Y: 72}: {255, 0, 0, 255},
		{X: 38, Y: 75}: {100, 100, 100, 255},
	} {
		if got := m.At(p.X, p.Y); got != want {
			t.Errorf("%v is %v, want %v", p, got, want)
		}
	}
	if m, err = report.Preview(t.Context(), f, mask, 1000); err != nil || m.Bounds() != image.Rect(0, 0, 200, 400) {
		t.Errorf("a picture smaller than its preview: %v, %v", m.Bounds(), err)
	}
}

func TestIndex(t *testing.T) {
	t.Parallel()
	small, err := thumbnail.JPEGURL(image.NewNRGBA(image.Rect(0, 0, 4, 3)))
	if err != nil {
		t.Fatal(err)
	}
	index := report.Index{Program: "1.2", Entries: []report.IndexEntry{
		{File: "a <1>.tif", Text: "findings: 3", Thumbnail: small, Outputs: []string{"a 50%#1?_mask.png", "b:c.html"}},
		{File: "b.tif", Text: "b.tif: no such file", Failed: true},
	}}
	for lang, title := range map[string]string{"en": "Contact sheet; files: 2", "ru": "Обзор; файлов: 2"} {
		var b bytes.Buffer
		if err := report.WriteIndex(&b, index, i18n.For(lang)); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		for _, want := range []string{
			title, `<a href="./a%2050%25%231%3F_mask.png"><img src="data:image/jpeg;base64,`, `href="./b:c.html"`,
			"a &lt;1&gt;.tif", `<figure class="failed">`, "no such file", `content="Blik 1.2"`,
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %s in\n%s", lang, want, page)
			}
		}
		if n := strings.Count(page, "<img"); n != 1 {
			t.Errorf("%d pictures", n)
		}
	}
}
