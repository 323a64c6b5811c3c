//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"math"
	"math/big"
	"slices"
	"unsafe"

	"gorgonia.org/cu"

	"blik/processing"
)

// NoiseTiles returns the noise of each tile in the source's own levels, tiles in reading order.
func (b executor) NoiseTiles(ctx context.Context, op processing.NoiseTiles) ([]float64, error) {
	s := op.Src.(*plane)
	// With a larger side, the whole picture is also less than a quarter of the area.
	op.Side = min(op.Side, 2*max(s.w, s.h)+1)
	nx, ny := (s.w+op.Side-1)/op.Side, (s.h+op.Side-1)/op.Side
	var sigma []float64
	err := b.run(ctx, func(q *queue) error {
		out, err := q.bytes(8 * int64(nx) * int64(ny))
		if err != nil {
			return err
		}
		if err := q.launch("noiseTiles"+s.kind.String(), dim{nx, ny}, dim{x: 256}, out, s, op.Side, s.w,
			s.h); err != nil {
			return err
		}
		host, err := q.fetch(out, 8*nx*ny)
		if err != nil {
			return err
		}
		middle := samplesOf[uint32](host)
		sigma = make([]float64, 0, nx*ny)
		for i := 0; i < len(middle); i += 2 {
			if middle[i] != math.MaxUint32 {
				// The orthonormal coefficient is half the difference of differences.
				sigma = append(sigma, (float64(middle[i])+float64(middle[i+1]))/2/2/0.6745)
			}
		}
		return nil
	})
	return sigma, err
}

// Histogram counts the values of src where exclude is 0; exclude may be nil.
func (b executor) Histogram(ctx context.Context, op processing.Histogram) ([]uint64, error) {
	s := op.Src.(*plane)
	var mask buffer
	pitch := 0
	if op.Exclude != nil {
		e := op.Exclude.(*plane)
		mask, pitch = e.memory, int(e.pitch)
	}
	bins, grid, block := 1<<8, dim{x: min(s.h, 512)}, dim{x: 256}
	if s.kind == processing.U16 {
		// quarterGroups and quarterThreads of reduce.cu.
		const groups, threads = 65535 / 8, 512
		bins = 1 << 16
		grid, block = dim{x: 4 * (((s.w+7)/8*s.h + groups - 1) / groups)}, dim{x: threads}
	}
	var total []uint64
	err := b.run(ctx, func(q *queue) error {
		counts, err := q.bytes(4 * int64(bins))
		if err != nil {
			return err
		}
		if err := q.d.zero(counts, 4*int64(bins)); err != nil {
			return err
		}
		if err := q.launch("histogram"+s.kind.String(), grid, block, counts, s, mask, pitch, s.w, s.h); err != nil {
			return err
		}
		host, err := q.fetch(counts, 4*bins)
		if err != nil {
			return err
		}
		total = make([]uint64, bins)
		for i, c := range samplesOf[uint32](host) {
			total[i] = uint64(c)
		}
		return nil
	})
	return total, err
}

// momentBlocks is the number of thread blocks that sum a plane. It is constant because it determines the order of
// additions.
const momentBlocks = 1056

// SumMoments sums over src: exactly for integers, and for F32 with the rounding error of every addition carried along,
// so that the sums are as accurate as if computed with twice the precision of float64 and rounded once.
func (b executor) SumMoments(ctx context.Context, op processing.SumMoments) (processing.Moments, error) {
	s := op.Src.(*plane)
	var m processing.Moments
	err := b.run(ctx, func(q *queue) error {
		if s.kind == processing.F32 {
			sums, err := q.sumFloats(s)
			if err == nil {
				m = floatMoments(sums, s.w*s.h)
			}
			return err
		}
		blocks := min(momentBlocks, s.h)
		n := 8 * 5 * blocks
		out, err := q.bytes(int64(n))
		if err != nil {
			return err
		}
		if err := q.launch("moments"+s.kind.String(), dim{x: blocks}, dim{x: 256}, out, s, s.w, s.h); err != nil {
			return err
		}
		host, err := q.fetch(out, n)
		if err == nil {
			m = integerMoments(samplesOf[uint64](host), s.w*s.h)
		}
		return err
	})
	return m, err
}

// Sum returns the sum of SumMoments.
func (b executor) Sum(ctx context.Context, op processing.Sum) (float64, error) {
	m, err := b.SumMoments(ctx, processing.SumMoments{Src: op.Src})
	return m.Sum, err
}

// sumFloats returns Σx and its remainder, Σx² and its remainder, and the least and greatest sample, which the device
// writes directly into pinned host memory.
func (q *queue) sumFloats(s *plane) ([]float64, error) {
	host, err := q.b.pool.hostGet(q.d, grain)
	if err != nil {
		return nil, err
	}
	q.host = append(q.host, host)
	if err := q.launchSum(s, buffer{ptr: cu.DevicePtr(uintptr(unsafe.Pointer(unsafe.SliceData(host))))}); err != nil {
		return nil, err
	}
	if err := q.d.synchronize(); err != nil {
		return nil, err
	}
	return slices.Clone(samplesOf[float64](host)[:6]), nil
}

// launchSum queues the kernel that writes the six sums of a plane of floats.
func (q *queue) launchSum(s *plane, result buffer) error {
	blocks, err := q.bytes(8 * 6 * momentBlocks)
	if err != nil {
		return err
	}
	return q.launch("momentsF32", dim{x: momentBlocks}, dim{x: 256}, result, blocks, s, s.w, s.h)
}

// integerMoments combines the blocks of Σx, the low and high words of Σx², and the least and greatest sample.
func integerMoments(blocks []uint64, n int) processing.Moments {
	sum, sum2 := new(big.Int), new(big.Int)
	least, most := uint64(math.MaxUint64), uint64(0)
	var x big.Int
	for ; len(blocks) > 0; blocks = blocks[5:] {
		sum.Add(sum, x.SetUint64(blocks[0]))
		sum2.Add(sum2, x.SetUint64(blocks[1]))
		x.SetUint64(blocks[2])
		sum2.Add(sum2, x.Lsh(&x, 64))
		least, most = min(least, blocks[3]), max(most, blocks[4])
	}
	return processing.NewMoments(n, processing.WideFloat().SetInt(sum), processing.WideFloat().SetInt(sum2),
		float64(least), float64(most))
}

// floatMoments computes the moments from Σx and its remainder, Σx² and its remainder, and the least and greatest
// sample.
func floatMoments(sums []float64, n int) processing.Moments {
	low, high := sums[4], sums[5]
	if v := sums[0] + sums[2]; math.IsNaN(v) || math.IsInf(v, 0) {
		// With an infinite or NaN sample the sums are not finite either.
		return processing.Moments{N: uint64(n), Sum: sums[0], Sum2: sums[2], Min: low, Max: high,
			Mean: sums[0] / float64(n), StdDev: math.NaN()}
	}
	exact := func(v, rest float64) *big.Float {
		return processing.WideFloat().Add(processing.WideFloat().SetFloat64(v), processing.WideFloat().SetFloat64(rest))
	}
	return processing.NewMoments(n, exact(sums[0], sums[1]), exact(sums[2], sums[3]), low, high)
}
