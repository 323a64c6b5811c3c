// Package paintings reads the development set, for the tests that judge detection and correction.
package paintings

import (
	"image"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// Read reads a picture as 8-bit RGB.
func Read(t *testing.T, path string) *processing.Picture {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	b := img.Bounds()
	pic := &processing.Picture{Width: b.Dx(), Height: b.Dy(), Channels: 3, U8: make([]uint8, 0, 3*b.Dx()*b.Dy())}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			pic.U8 = append(pic.U8, uint8(r>>8), uint8(g>>8), uint8(bl>>8))
		}
	}
	return pic
}

func readTruth(t *testing.T, path string) *processing.Mask {
	t.Helper()
	pic := Read(t, path)
	m := processing.NewMask(pic.Width, pic.Height)
	for i := range m.Pix {
		m.Pix[i] = pic.U8[3*i]
	}
	return m
}

// Painting is a picture with glare, its truth, and the same picture without glare.
type Painting struct {
	Name         string
	Glare, Clean *processing.Picture
	Truth        *processing.Mask
}

// development is the development set, read by the first test that needs it.
var development struct {
	sync.Once
	set []Painting
}

// Development returns the development set, glare-dev of the shared data.
func Development(t *testing.T) []Painting {
	t.Helper()
	development.Do(func() { development.set = readDevelopmentSet(t) })
	testpic.Need(t, development.set != nil, "the development set")
	return development.set
}

func readDevelopmentSet(t *testing.T) []Painting {
	t.Helper()
	masks := testpic.SharedFiles(t, "glare-dev/*_mask.png")
	if len(masks) != 6 {
		t.Fatalf("%d pictures in glare-dev, want 6", len(masks))
	}
	whole := map[string]string{ // those whose clean picture is the painting itself
		"d05_munch_scream": "the_scream_munch.jpg",
		"d06_koninck_full": "p012_koninck_wooded_landscape.jpg",
	}
	var set []Painting
	for _, m := range masks {
		base := strings.TrimSuffix(m, "_mask.png")
		p := Painting{Name: filepath.Base(base), Truth: readTruth(t, m)}
		glare, _ := filepath.Glob(base + "_glare.*")
		if len(glare) != 1 {
			t.Fatalf("%s: %d pictures with glare", p.Name, len(glare))
		}
		p.Glare = Read(t, glare[0])
		if name, ok := whole[p.Name]; ok {
			p.Clean = Read(t, testpic.Shared(t, "paintings/"+name))
		} else {
			p.Clean = Read(t, base+"_clean.png")
		}
		set = append(set, p)
	}
	return set
}
