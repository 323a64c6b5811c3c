//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"blik/cuda"
	"blik/internal/message"
	"blik/lab/experiment"
)

// Constants of kernels/experiment_wavelet.cu.
const (
	waveletMaxTaps  = 8
	waveletMaxParts = 64
)

// sharedBytes is the shared memory of a block that needs no opt-in.
const sharedBytes = 48 << 10

// waveletMaxPoints keeps twice an index within the 32 bits that the kernels count in.
const waveletMaxPoints = 1 << 30

// waveletVariants are the steps of the experiment wavelet.
func waveletVariants(x *provider) []experiment.Variant {
	ids := []string{"gpu-1-global", "gpu-2-shared", "gpu-3-constant-wavelet", "gpu-4-registers",
		"gpu-5-constant-parameters", "gpu-6-coalesced"}
	list := make([]experiment.Variant, len(ids))
	for i, id := range ids {
		list[i] = experiment.Variant{ID: id, Device: experiment.GPU, Method: trialMethod{
			b: x.b,
			// The input with even sides, and the result.
			memory: func(c experiment.Case) int64 {
				return 2 * 4 * int64(experiment.Coefficients(c.Size).Samples())
			},
			operations: experiment.WaveletOperations,
			prepare: func(q cuda.Queue, t *trial, in *experiment.Input, c experiment.Case) error {
				return x.prepareWavelet(q, t, in, c, i+1)
			},
		}}
	}
	return list
}

// waveletPart is the part of the same name in the kernels: what one launch computes of every line of n points.
type waveletPart struct{ n, from, first, tiles, shift, results, taps uint32 }

// waveletWay is one direction of the transform with one of the steps.
type waveletWay struct {
	step             int
	kernel           string
	threads, results int
	// taps are the taps for the first and the second result of a pair; list holds them in device memory.
	taps  [2 * waveletMaxTaps]float32
	count int
	list  cuda.Buffer
	// parts are of the rows, 0, and of the columns, 1; lines is how many of these there are.
	parts [2][]waveletPart
	lines [2]int
}

// newWaveletWay sets up a direction for inputs of a size with even sides.
func newWaveletWay(step int, size experiment.Size, c experiment.Case, inverse bool) *waveletWay {
	wave := experiment.NewWavelet(c.Values["wavelet"])
	y := &waveletWay{step: step, threads: c.Int("threads"), results: c.Int("results"), count: len(wave.Low)}
	y.kernel = "forward" + strconv.Itoa(step)
	for k := range wave.Low {
		y.taps[k], y.taps[waveletMaxTaps+k] = float32(wave.Low[k]), float32(wave.High[k])
	}
	if inverse {
		// Points 2i and 2i+1 take part in the coefficients i, i−1, …; interleaved and in ascending order these begin
		// with the earliest, whose taps are the last ones.
		y.kernel = "inverse" + strconv.Itoa(step)
		for k := 0; k < y.count; k += 2 {
			at := y.count - 2 - k
			for odd := range 2 {
				y.taps[odd*waveletMaxTaps+k] = float32(wave.Low[at+odd])
				y.taps[odd*waveletMaxTaps+k+1] = float32(wave.High[at+odd])
			}
		}
	}
	division := c.Values["index"] == "division"
	if division {
		y.kernel += "Division"
	} else {
		y.kernel += "Shift"
	}
	y.lines = [2]int{max(size.H, 1), size.W}
	y.parts[0] = y.cut(size.W, division, inverse)
	if size.H > 0 {
		y.parts[1] = y.cut(size.H, division, inverse)
	}
	return y
}

// cut divides lines of n points into the parts of the launches: one, or, if indices are shifted, one for each set bit
// in the number of tiles, each with a power of two.
func (y *waveletWay) cut(n int, division, inverse bool) []waveletPart {
	p := waveletPart{n: uint32(n), results: uint32(y.results), taps: uint32(y.count)}
	if inverse {
		p.from = uint32((n - (y.count-2)%n) % n)
	}
	tile := y.threads * y.results
	tiles := uint32((n/2 + tile - 1) / tile)
	if division {
		p.tiles = tiles
		return []waveletPart{p}
	}
	var parts []waveletPart
	for ; p.first < tiles; p.first += p.tiles {
		p.shift = uint32(bits.Len32(tiles-p.first) - 1)
		p.tiles = 1 << p.shift
		parts = append(parts, p)
	}
	return parts
}

// shared is the shared memory of a block in bytes: its points, and up to step 3 its sums.
func (y *waveletWay) shared() int {
	tile := y.threads * y.results
	switch {
	case y.step == 1:
		return 0
	case y.step <= 3:
		return 4 * (4*tile + waveletMaxTaps)
	}
	return 4 * (2*tile + waveletMaxTaps)
}

// load copies taps and parts to constant memory for the steps that use it.
func (y *waveletWay) load(q cuda.Queue) error {
	if y.step <= 2 {
		return nil
	}
	const module = "experiment_wavelet"
	if err := q.Constant(module, "waveletTaps", cuda.BytesOf(y.taps[:])); err != nil || y.step <= 4 {
		return err
	}
	parts := slices.Concat(y.parts[0], y.parts[1])
	if len(parts) > waveletMaxParts {
		return fmt.Errorf("cuda: a wavelet in %d parts, %d at most", len(parts), waveletMaxParts)
	}
	var words []uint32
	for _, p := range parts {
		words = append(words, p.n, p.from, p.first, p.tiles, p.shift, p.results, p.taps)
	}
	return q.Constant(module, "waveletParts", cuda.BytesOf(words))
}

// transform queues one level along the rows (0) or along the columns (1), which are also rows in memory.
func (y *waveletWay) transform(q cuda.Queue, dst, src cuda.Buffer, along int) error {
	for i, p := range y.parts[along] {
		args := []any{dst, src}
		if y.step <= 4 {
			args = append(args, y.list, int(p.n), int(p.from), int(p.first), int(p.tiles), int(p.shift), int(p.results),
				int(p.taps))
		} else {
			args = append(args, along*len(y.parts[0])+i)
		}
		grid := cuda.Blocks(y.lines[along]*int(p.tiles), 0)
		if err := q.LaunchShared(y.kernel, grid, cuda.Blocks(y.threads, 0), y.shared(), args...); err != nil {
			return err
		}
	}
	return nil
}

// level queues the whole transform of a line, or of a picture, whose columns are transposed to rows and back.
func (y *waveletWay) level(q cuda.Queue, size experiment.Size, inverse bool, dst, src, spare cuda.Buffer) error {
	if size.H == 0 {
		return y.transform(q, dst, src, 0)
	}
	if inverse {
		if err := transpose(q, spare, src, size.W, size.H); err != nil {
			return err
		}
		if err := y.transform(q, dst, spare, 1); err != nil {
			return err
		}
		if err := transpose(q, spare, dst, size.H, size.W); err != nil {
			return err
		}
		return y.transform(q, dst, spare, 0)
	}
	if err := y.transform(q, spare, src, 0); err != nil {
		return err
	}
	if err := transpose(q, dst, spare, size.W, size.H); err != nil {
		return err
	}
	if err := y.transform(q, spare, dst, 1); err != nil {
		return err
	}
	return transpose(q, dst, spare, size.H, size.W)
}

// transpose queues the transposition of w × h points.
func transpose(q cuda.Queue, dst, src cuda.Buffer, w, h int) error {
	const most = 1<<16 - 1
	grid := cuda.Blocks((w+31)/32, min((h+31)/32, most))
	return q.Launch("transposedPoints", grid, cuda.Blocks(32, 8), dst, src, w, h)
}

func (x *provider) prepareWavelet(q cuda.Queue, t *trial, in *experiment.Input, c experiment.Case, step int) error {
	size := experiment.Coefficients(in.Size)
	n := size.Samples()
	if n > waveletMaxPoints {
		return leftOut("more than 2^30 points are not supported")
	}
	inverse := c.Values["direction"] == "inverse"
	way := newWaveletWay(step, size, c, inverse)
	if need := way.shared(); need > sharedBytes {
		return leftOut("%d threads with %d results each need %d KiB of shared memory, a block has %d", way.threads,
			way.results, (need+1023)>>10, sharedBytes>>10)
	}
	src, err := t.work.Uploaded(q, cuda.BytesOf(experiment.Extended(in)))
	if err != nil {
		return err
	}
	var spare cuda.Buffer
	if size.H > 0 {
		if spare, err = t.work.Bytes(q, 4*int64(n)); err != nil {
			return err
		}
	}
	dst, err := t.work.Bytes(q, 4*int64(n))
	if err != nil {
		return err
	}
	if way.list, err = t.work.Uploaded(q, cuda.BytesOf(way.taps[:])); err != nil {
		return err
	}
	if inverse {
		there := newWaveletWay(step, size, c, false)
		if there.list, err = t.work.Uploaded(q, cuda.BytesOf(there.taps[:])); err != nil {
			return err
		}
		x.constants = there
		if err := there.load(q); err != nil {
			return err
		}
		if err := there.level(q, size, false, dst, src, spare); err != nil {
			return err
		}
		src, dst = dst, src
	}
	t.compute = func(q cuda.Queue) error {
		// All trials share the constant memory; each loads its own content.
		if x.constants != way {
			if err := way.load(q); err != nil {
				return err
			}
			x.constants = way
		}
		return way.level(q, size, inverse, dst, src, spare)
	}
	t.result = t.floats(dst, n)
	return nil
}

// leftOut returns the error for a row that is left out.
func leftOut(format message.Text, args ...any) error {
	return message.New(message.Of(format, args...), experiment.ErrMemory)
}
