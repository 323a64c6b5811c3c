package help

import (
	"testing"

	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"blik/app/manual"
)

// The guide shows its text and each picture with the text after it, in order.
func TestGuidePage(t *testing.T) {
	t.Parallel()
	page := guidePage(manual.Section{Title: "Tour", Text: "One.", Pictures: []manual.Picture{
		{Name: "guide/a.jpg", JPEG: []byte{1}, Text: "Two."}, {Name: "guide/b.jpg", JPEG: []byte{2}},
	}})
	if len(page) != 4 {
		t.Fatalf("%d objects", len(page))
	}
	if text := page[2].(*widget.RichText).String(); text != "Two." {
		t.Errorf("%q is the text after the first picture", text)
	}
	if picture := page[3].(*canvas.Image); picture.Resource.Name() != "guide/b.jpg" {
		t.Errorf("%s is the second picture", picture.Resource.Name())
	}
}
