package document

import (
	"image"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/correct"
)

// painted returns a picture of 150 × 140 pixels of the given depth.
func painted(channels, depth int) *processing.Picture {
	if depth < 32 {
		return testpic.Painted(150, 140, channels, depth)
	}
	pic := testpic.Painted(150, 140, channels, 8)
	for _, v := range pic.U8 {
		pic.F32 = append(pic.F32, float32(v)/255)
	}
	pic.U8 = nil
	return pic
}

// Crop agrees with PixelAt in every pixel, before and after correction, at every depth.
func TestCrop(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{8, 16, 32} {
		for _, channels := range []int{1, 3, 4} {
			d, err := New("", painted(channels, depth))
			if err != nil {
				t.Fatal(err)
			}
			d.BeginStroke(Brush{Radius: 6}, 128, 120)
			d.EndStroke()
			spot := processing.Spot{ID: 1, Runs: d.SpotRuns(128, 120)}
			p := processing.Patch{Spot: 1, Runs: spot.Runs}
			for i := range processing.Pixels(spot.Runs) * channels {
				switch depth {
				case 8:
					p.U8 = append(p.U8, uint8(i))
				case 16:
					p.U16 = append(p.U16, uint16(3*i))
				default:
					p.F32 = append(p.F32, float32(i)/1000)
				}
			}
			if err := d.ApplyCorrection(&correct.Correction{Patches: []processing.Patch{p}},
				[]processing.Spot{spot}, processing.DefaultParams()); err != nil {
				t.Fatal(err)
			}
			for _, area := range []image.Rectangle{
				image.Rect(0, 0, 150, 140), image.Rect(126, 118, 130, 122), image.Rect(120, -5, 999, 121),
				image.Rect(149, 139, 150, 140),
			} {
				checkCrop(t, d, area)
			}
			if part := d.Crop(image.Rect(150, 0, 160, 10), true); part != nil {
				t.Errorf("beside the picture: %+v", part)
			}
		}
	}
}

func checkCrop(t *testing.T, d *Document, area image.Rectangle) {
	t.Helper()
	before, after := d.Crop(area, false), d.Crop(area, true)
	area = area.Intersect(image.Rectangle{Max: d.Size()})
	if before.Validate() != nil || after.Validate() != nil || before.Width != area.Dx() || before.Height != area.Dy() {
		t.Fatalf("%v: %d × %d pixels, %v, %v", area, before.Width, before.Height, before.Validate(), after.Validate())
	}
	n := before.Channels
	for y := range area.Dy() {
		for x := range area.Dx() {
			want, _ := d.PixelAt(area.Min.X+x, area.Min.Y+y)
			i := (y*before.Width + x) * n
			if got := values(before.Samples(), i, n); got != want.Source {
				t.Fatalf("%v: pixel (%d, %d) was %v, cropped %v", area, x, y, want.Source, got)
			}
			if got := values(after.Samples(), i, n); got != want.Samples {
				t.Fatalf("%v: pixel (%d, %d) is %v, cropped %v", area, x, y, want.Samples, got)
			}
		}
	}
}
