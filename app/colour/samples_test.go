package colour

import (
	"fmt"
	"os/exec"
	"testing"

	"blik/internal/test/testpic"
)

// embedded returns the profile of one of the shared files, taken out by exiftool.
func embedded(t *testing.T, name string) []byte {
	t.Helper()
	path := testpic.Shared(t, "io-samples/"+name)
	b, err := exec.Command(testpic.Program(t, "exiftool"), "-b", "-icc_profile", path).Output()
	if err != nil || len(b) == 0 {
		t.Fatalf("%s: %d bytes of profile, %v", name, len(b), err)
	}
	return b
}

func TestEmbeddedProfilesAgainstLittleCMS(t *testing.T) {
	for _, c := range []struct {
		file, name string
		channels   int
		most       int
	}{
		{"Landscape_6.jpg", "Generic RGB Profile", 3, 1},
		{"rgb16_icc_p3.tif", "sP3C", 3, 1},
		{"hopper.iccprofile_binary.tif", "sRGB IEC61966-2.1", 3, 1},
		{"cmyk8_icc.tif", "Chemical proof", 4, 2},
	} {
		t.Run(c.file, func(t *testing.T) {
			b := embedded(t, c.file)
			p := mustProfile(t, b)
			if p.Name != c.name || p.Channels != c.channels || !p.Exact {
				t.Errorf("profile %q of %d channels, exact %v", p.Name, p.Channels, p.Exact)
			}
			src := samples(c.channels)
			want := littleCMS(t, b, c.channels, src)
			for _, depth := range []int{8, 16, 32} {
				compare(t, fmt.Sprint(depth, " bits"), c.channels, src, shown(p, depth, src), want, c.most)
			}
		})
	}
}
