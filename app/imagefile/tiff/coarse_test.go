package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// thinned is the slow reference: each step-th pixel of each step-th row.
func thinned(t *testing.T, pic, got *processing.Picture, step int) {
	t.Helper()
	w, h := (pic.Width+step-1)/step, (pic.Height+step-1)/step
	if got.Width != w || got.Height != h || got.Channels != pic.Channels || got.Depth() != pic.Depth() {
		t.Fatalf("%d × %d pixels of %d channels and %d bits, want %d × %d, %d and %d", got.Width, got.Height,
			got.Channels, got.Depth(), w, h, pic.Channels, pic.Depth())
	}
	if err := got.Validate(); err != nil {
		t.Fatal(err)
	}
	for y := range h {
		for x := range w {
			for c := range pic.Channels {
				a := sample(pic, (y*step*pic.Width+x*step)*pic.Channels+c)
				if b := sample(got, (y*w+x)*pic.Channels+c); a != b {
					t.Fatalf("step %d: channel %d of %d, %d is %d, not %d", step, c, x, y, b, a)
				}
			}
		}
	}
}

// Every kind of uncompressed file has a coarse version with the pixels of the whole picture; compressed files have
// none.
func TestDecodeCoarse(t *testing.T) {
	testpic.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 2))
	all := forms(rng)
	for _, size := range [][2]int{{1, 1}, {1, 50}, {50, 1}, {2, 3}, {33, 17}} {
		for _, tiled := range []bool{false, true} {
			all = append(all, form{order: binary.BigEndian, big: tiled, tiled: tiled, planar: tiled, depth: 16,
				compression: compNone, photometric: photometricRGB, width: size[0], height: size[1], segW: 16, segH: 16})
		}
	}
	read := 0
	for _, f := range all {
		samples := f.random(rng)
		file := open(t, f.write(t, samples))
		if f.compression != compNone {
			if got, err := file.DecodeCoarse(t.Context(), 2); got != nil || err != nil {
				t.Fatalf("%v: %v, %v although it is compressed", f, got, err)
			}
			continue
		}
		whole, err := file.Decode(t.Context())
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		for _, step := range []int{1, 2, 3, 7, 100} {
			got, err := file.DecodeCoarse(t.Context(), step)
			if err != nil {
				t.Fatalf("%v: %v", f, err)
			}
			thinned(t, whole, got, step)
			read++
		}
	}
	if read < 100 {
		t.Errorf("only %d pictures were compared", read)
	}
}

// A damaged file gives the same error as when it is decoded completely: truncated at every length, and with every byte
// of its structure changed.
func TestDecodeCoarseDamaged(t *testing.T) {
	t.Parallel()
	f := form{order: binary.LittleEndian, tiled: true, planar: true, depth: 16, compression: compNone,
		photometric: photometricRGB, width: 21, height: 19, segW: 16, segH: 16}
	data := f.write(t, f.random(rand.New(rand.NewPCG(1, 1))))
	try := func(damaged []byte) {
		file, err := Open(bytes.NewReader(damaged), int64(len(damaged)))
		if err != nil || file.info.Width*file.info.Height > 1<<20 {
			return
		}
		whole, wrong := file.Decode(t.Context())
		got, err := file.DecodeCoarse(t.Context(), 3)
		switch {
		case (wrong != nil) != (err != nil) && file.lay.compression == compNone:
			t.Errorf("all pixels: %v; some pixels: %v", wrong, err)
		case wrong != nil && got != nil:
			t.Errorf("pixels although the file gives %v", wrong)
		case got != nil:
			thinned(t, whole, got, 3)
		}
	}
	for n := 0; n < len(data); n += 5 {
		try(data[:n])
	}
	directory := len(data) - 300
	for i := range data {
		if i < 8 || i > directory {
			damaged := bytes.Clone(data)
			damaged[i] ^= 0x15
			try(damaged)
		}
	}
}

// A cancelled context ends it.
func TestDecodeCoarseCancel(t *testing.T) {
	t.Parallel()
	f := form{order: binary.LittleEndian, depth: 8, compression: compNone, photometric: photometricRGB, width: 40,
		height: 40, segW: 40, segH: 40}
	file := open(t, f.write(t, f.random(rand.New(rand.NewPCG(1, 1)))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := file.DecodeCoarse(ctx, 2); got != nil || err != ctx.Err() {
		t.Errorf("%v, %v after a cancel", got, err)
	}
}
