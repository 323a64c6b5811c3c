package args_test

import (
	"testing"

	"blik/processing"
	"blik/processing/args"
	"blik/processing/cpu"
)

// What is refused is in package argstest, which the tests of every backend run. What is not refused takes no memory.
func TestChecksTakeNoMemory(t *testing.T) {
	b := cpu.New()
	var p [5]processing.Plane
	for i, kind := range []processing.Kind{processing.U8, processing.F32, processing.F32, processing.F32, processing.F32} {
		q, err := b.Alloc(kind, 8, 6)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Release()
		p[i] = q
	}
	tiles, models := []processing.Tile{{W: 8, H: 6}}, make([]processing.Separation, 1)
	for name, check := range map[string]func() error{
		"morph":    func() error { return args.Morph(b, p[0], p[0], processing.Open, processing.Square(3)) },
		"starlet":  func() error { return args.Starlet(b, p[1:4], p[4], p[0]) },
		"separate": func() error { return args.Separate(b, p[1:2], p[2], p[3:4], p[4], p[0], tiles, models) },
	} {
		if n := testing.AllocsPerRun(10, func() {
			if err := check(); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s takes memory %v times", name, n)
		}
	}
}
