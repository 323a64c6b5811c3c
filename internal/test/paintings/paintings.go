// Package paintings reads the development set, for the tests that judge detection and correction.
package paintings

import (
	_ "image/jpeg"
	_ "image/png"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

func readTruth(t *testing.T, path string) *processing.Mask {
	t.Helper()
	pic := testpic.RGB(t, path)
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
		p.Glare = testpic.RGB(t, glare[0])
		if name, ok := whole[p.Name]; ok {
			p.Clean = testpic.RGB(t, testpic.Shared(t, "paintings/"+name))
		} else {
			p.Clean = testpic.RGB(t, base+"_clean.png")
		}
		set = append(set, p)
	}
	return set
}
