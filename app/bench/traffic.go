package bench

import (
	"context"
	"unsafe"

	"blik/processing"
)

// The stages that backends put copies between host and device under.
const (
	stageUpload   = "upload"
	stageDownload = "download"
)

// traffic is a backend that counts, for each stage, the least that its operations have to move, whatever device they
// run on: a plane that is read counts once and a plane that is written counts once, in bytes; Morph, Gaussian and the
// like need not read any pixel twice, if what they read stays in caches. So the time of a stage at the rate of a plain
// copy is a bound that no implementation with the same operations is faster than.
//
// Where an operation is about a set of pixels, only these count: Gather those asked for, MeasureRegions those of the
// components, the operations on tiles those of the tiles. Grow touches only the pixels of the components and their
// surroundings, a small part of most pictures, and counts nothing; so does what the detector does in host memory.
//
// What a device with its own memory must be sent and what it must send back (a picture, planes for Host, lists and
// results) counts as upload and as download, not for the stage that it happens in.
type traffic struct {
	processing.Backend
	// bytes are by the names of stages, "" outside of all.
	bytes map[string]int64
	open  []string
}

// count adds to the stage that was started last and still runs.
func (t *traffic) count(n int64) {
	name := ""
	if k := len(t.open); k > 0 {
		name = t.open[k-1]
	}
	t.bytes[name] += n
}

func (t *traffic) up(n int64)   { t.bytes[stageUpload] += n }
func (t *traffic) down(n int64) { t.bytes[stageDownload] += n }

// listBytes is the size of a list.
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

// Do counts what an operation moves after it is done, when its results are known.
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
	case processing.Gather:
		n := listBytes(o.Index)
		t.up(n)
		t.count(2*n + int64(len(o.Index)*o.Src.Kind().Bytes()))
		t.down(n)
	case processing.MeasureRegions:
		for i := range *o.Out {
			t.count((*o.Out)[i].All.N * pixelBytes(uses))
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
	case processing.SumMoments:
		t.down(int64(unsafe.Sizeof(*o.Out)))
	case processing.Sum:
		t.down(int64(unsafe.Sizeof(*o.Out)))
	}
	return nil
}

// pixelBytes is what an operation moves for each of its pixels.
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

// pixels is how many pixels of each plane an operation moves.
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

// Stage counts what follows under the name until it ends.
func (t *traffic) Stage(name string) (end func()) {
	t.open = append(t.open, name)
	depth := len(t.open)
	inner := t.Backend.Stage(name)
	return func() {
		inner()
		t.open = t.open[:min(len(t.open), depth-1)]
	}
}
