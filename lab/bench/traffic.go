package bench

import (
	"context"
	"unsafe"

	"blik/processing"
)

// The stages under which backends record copies between host and device.
const (
	stageUpload   = "upload"
	stageDownload = "download"
)

// traffic is a backend that counts, for each stage, the least number of bytes that its operations have to move on any
// device. A plane that is read counts once, and so does a plane that is written: even Morph or Gaussian need not read
// any pixel from memory twice if it stays in the caches. Dividing the bytes of a stage by the rate of a plain copy
// therefore gives a time that no implementation of the same operations can beat.
//
// If an operation works on a set of pixels, only these count: those of the components for MeasureGlints, those of the
// tiles for operations on tiles. Grow counts nothing, because it touches only the components and their surroundings, a
// small part of most pictures. Work of the detector in host memory counts nothing either.
//
// What must be transferred to a device with its own memory and back (a picture, planes for Host, lists and results)
// counts as upload and download, not for the stage in which it happens.
type traffic struct {
	processing.Backend
	// bytes maps the names of stages to bytes; "" stands for operations outside all stages. open are the stages that
	// run, the innermost last.
	bytes map[string]int64
	open  []string
}

// count adds n bytes to the innermost stage that runs.
func (t *traffic) count(n int64) {
	name := ""
	if k := len(t.open); k > 0 {
		name = t.open[k-1]
	}
	t.bytes[name] += n
}

func (t *traffic) up(n int64)   { t.bytes[stageUpload] += n }
func (t *traffic) down(n int64) { t.bytes[stageDownload] += n }

// listBytes returns the size of the elements of a list.
func listBytes[T any](list []T) int64 {
	var v T
	return int64(unsafe.Sizeof(v)) * int64(len(list))
}

func planeBytes(p processing.Plane) int64 {
	w, h := p.Size()
	return int64(w) * int64(h) * int64(p.Kind().Bytes())
}

func (t *traffic) Upload(ctx context.Context, dst processing.Plane, src processing.Samples) error {
	t.up(planeBytes(dst))
	return t.Backend.Upload(ctx, dst, src)
}

func (t *traffic) Host(ctx context.Context, p processing.Plane) (processing.Samples, error) {
	t.down(planeBytes(p))
	return t.Backend.Host(ctx, p)
}

// Do runs an operation and then counts what it moved, because that may depend on its results.
func (t *traffic) Do(ctx context.Context, op processing.Op) error {
	if err := t.Backend.Do(ctx, op); err != nil {
		return err
	}
	uses := processing.UsesOf(op)
	if p := uses.Picture; p != nil {
		n := listBytes(p.U8) + listBytes(p.U16) + listBytes(p.F32)
		t.up(n)
		t.count(n)
	}
	switch o := op.(type) {
	case processing.MeasureGlints:
		for i := range *o.Out {
			t.count(int64((*o.Out)[i].Area) * pixelBytes(uses))
		}
		t.down(listBytes(*o.Out))
	case processing.Grow:
	case processing.FilterComponents:
		t.up(listBytes(o.Keep))
	default:
		t.count(pixelBytes(uses) * pixels(uses))
	}
	switch o := op.(type) {
	case processing.Histogram:
		t.down(listBytes(*o.Out))
	case processing.NoiseTiles:
		t.down(listBytes(*o.Out))
	case processing.Spans:
		t.down(listBytes(*o.Out))
	}
	return nil
}

// pixelBytes returns the number of bytes that an operation moves for each of its pixels.
func pixelBytes(uses processing.Uses) (n int64) {
	for _, p := range uses.Planes {
		if p.Read {
			n += int64(p.Plane.Kind().Bytes())
		}
		if p.Write {
			n += int64(p.Plane.Kind().Bytes())
		}
	}
	return n
}

// pixels returns the number of pixels of each plane that an operation moves.
func pixels(uses processing.Uses) (n int64) {
	if !uses.Tiled {
		if len(uses.Planes) == 0 {
			return 0
		}
		w, h := uses.Planes[0].Plane.Size()
		return int64(w) * int64(h)
	}
	for _, r := range uses.Tiles {
		n += int64(r.W) * int64(r.H)
	}
	return n
}

// Stage counts all operations for the named stage until end is called.
func (t *traffic) Stage(name string) (end func()) {
	t.open = append(t.open, name)
	depth := len(t.open)
	inner := t.Backend.Stage(name)
	return func() {
		inner()
		t.open = t.open[:min(len(t.open), depth-1)]
	}
}
