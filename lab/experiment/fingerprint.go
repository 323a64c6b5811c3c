package experiment

import (
	"context"
	"errors"
	"math"

	"blik/internal/message"
	"blik/internal/parallel"
	"blik/processing"
	"blik/processing/cpu"
)

// fingerprint returns a binary fingerprint with black ridges (0) on white (255), and the same with noise: specks of ink
// and of bare paper. The ridges are the black half of cos φ, where φ grows with the distance from the core of a whorl
// and turns once about each minutia, which ends or splits a ridge there (Larkin & Fletcher 2007).
func fingerprint(ctx context.Context, w, h int, seed uint64) (clean, noisy []uint8, err error) {
	clean, noisy = make([]uint8, w*h), make([]uint8, w*h)
	// Much wider than the element of the demonstration, which would damage narrow ridges as much as it cleans them.
	const period = 28
	side := float64(min(w, h))
	cx, cy := 0.5*float64(w), 0.45*float64(h)
	type minutia struct{ x, y, turn float64 }
	minutiae := make([]minutia, 12)
	for i := range minutiae {
		u := mix(seed<<8 + uint64(i))
		angle := 2 * math.Pi * float64(u&0xffff) / 0x10000
		radius := side * (0.1 + 0.35*float64(u>>16&0xffff)/0x10000)
		minutiae[i] = minutia{cx + radius*math.Cos(angle), cy + radius*math.Sin(angle), float64(int(u>>32&2)) - 1}
	}
	err = parallel.Chunks(ctx, h, 8, func(i, j int) {
		for y := i; y < j; y++ {
			for x := range w {
				dx, dy := float64(x)-cx, float64(y)-cy
				distance := math.Hypot(1.25*dx, dy) + 0.03*side*math.Sin(2*math.Atan2(dy, dx))
				phase := 2 * math.Pi * distance / period
				for _, m := range minutiae {
					phase += m.turn * math.Atan2(float64(y)-m.y, float64(x)-m.x)
				}
				k := y*w + x
				if math.Cos(phase) < 0 {
					clean[k] = 255
				}
				noisy[k] = clean[k]
				switch u := mix(seed<<40^uint64(k)) % 100; {
				case u < 2:
					noisy[k] = 255
				case u < 4:
					noisy[k] = 0
				}
			}
		}
	})
	return clean, noisy, err
}

// mix is the finaliser of SplitMix64 (Steele, Lea & Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// The sides of the fingerprint.
const (
	fingerprintW = 540
	fingerprintH = 720
)

// fingerprintFigures cleans a noisy print as the paper does: an opening removes white specks and widens black ones,
// which a closing then removes.
func fingerprintFigures(ctx context.Context) (figures []Figure, err error) {
	const w, h = fingerprintW, fingerprintH
	clean, noisy, err := fingerprint(ctx, w, h, 1)
	if err != nil {
		return nil, err
	}
	b := cpu.New()
	defer func() { err = errors.Join(err, b.Close()) }()
	p, err := b.Alloc(processing.U8, w, h)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	if err := b.Upload(ctx, p, processing.Samples{U8: noisy}); err != nil {
		return nil, err
	}
	result := func() ([]uint8, error) {
		s, err := b.Host(ctx, p)
		return append([]uint8(nil), s.U8...), err
	}
	add := func(name string, pix []uint8, title message.Text) {
		wrong := 0
		for i, v := range pix {
			if v != clean[i] {
				wrong++
			}
		}
		share := 100 * float64(wrong) / float64(w*h)
		figures = append(figures, Figure{Name: name, W: w, H: h, Pix: pix,
			Title: message.Of("%s: %.1f %% of the pixels wrong", message.Of(title), share)})
	}
	add("noisy", noisy, "noisy print")
	for _, step := range []struct {
		op    processing.MorphOp
		name  string
		title message.Text
	}{
		{processing.Open, "opened", "after opening"},
		{processing.Close, "closed", "after opening and closing"},
	} {
		if err := b.Do(ctx, processing.Morph{Dst: p, Src: p, Op: step.op, Element: processing.Square(1)}); err != nil {
			return nil, err
		}
		pix, err := result()
		if err != nil {
			return nil, err
		}
		add(step.name, pix, step.title)
	}
	return figures, nil
}
