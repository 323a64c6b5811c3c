package cpu

import "encoding/binary"

// SWAR (SIMD within a register): the samples of several rows share a word, so that van Herk's recursion, in which each
// step depends on the one before, compares eight pixels at a time.

// batchRows is the number of rows in a batch: the lanes of two words, as two independent chains keep the processor
// busy.
const batchRows = 16

// minBatchWindow is the shortest window that batches are faster for.
const minBatchWindow = 9

// filterBatches filters batches of 16 rows, strip by strip, until fewer than 16 remain before end, and returns the next
// row.
func filterBatches[T sample](t *worker, dst, src []T, w, y, end int, o *order[T], k, strip int) int {
	r := k / 2
	// The kernel reads whole words.
	pitch := (strip + 2*r + 7) / 8 * 8
	padded, left := take[T](t, batchRows*pitch), take[T](t, batchRows*r)
	a, b := take[uint64](t, pitch), take[uint64](t, pitch)
	for ; y+batchRows <= end; y += batchRows {
		fill(left, o.worst)
		for x := 0; x < w; x += strip {
			if t.stopped() {
				return end
			}
			n := min(strip, w-x)
			sparse := o.mostlyBlank(src[(y+batchRows/2)*w+x:][:n])
			var in, out [batchRows][]T
			for i := range batchRows {
				in[i], out[i] = padded[i*pitch:(i+1)*pitch], dst[(y+i)*w+x:][:n]
				if sparse {
					in[i] = padded[:pitch]
				}
				row, keep := in[i][:n+2*r], left[i*r:(i+1)*r]
				copy(row, keep)
				m := copy(row[r:], src[(y+i)*w+x:(y+i+1)*w])
				fill(row[r+m:], o.worst)
				copy(keep, row[n:])
				if sparse {
					o.sparse(out[i], row, k)
				}
			}
			if !sparse {
				o.windows(&out, &in, k, a, b)
			}
		}
	}
	return y
}

// mostlyBlank reports whether most of a row's blocks are blank, so that it and its neighbours are best filtered one by
// one.
func (o *order[T]) mostlyBlank(row []T) bool {
	blank := 0
	for at := 0; at < len(row); at += block {
		if o.blank(row[at:min(at+block, len(row))]) {
			blank += block
		}
	}
	return 2*blank >= len(row)
}

// windows is order.windows for bytes: with the pixels of eight rows side by side in a word, van Herk's recursion along
// the rows compares eight pixels at a time.
func (l lanes) windows(dst, src *[batchRows][]uint8, k int, a, b []uint64) {
	n := len(dst[0])
	m := n + k - 1
	transposeIn(a, (*[8][]uint8)(src[:8]), m)
	transposeIn(b, (*[8][]uint8)(src[8:]), m)
	for j := 0; j < n; j += k {
		blockA := a[j : j+k]
		blockB := b[j : j+k][:len(blockA)]
		bestA, bestB := blockA[k-1], blockB[k-1]
		for i := k - 2; i >= 0; i-- {
			bestA, bestB = l.best(bestA, blockA[i]), l.best(bestB, blockB[i])
			blockA[i], blockB[i] = bestA, bestB
		}
		next := min(k, n-j) - 1
		if next == 0 {
			break
		}
		nextA := a[j+k:][:next]
		nextB, outA, outB := b[j+k:][:len(nextA)], blockA[1:][:len(nextA)], blockB[1:][:len(nextA)]
		bestA, bestB = nextA[0], nextB[0]
		for i, v := range nextA {
			bestA, bestB = l.best(bestA, v), l.best(bestB, nextB[i])
			outA[i], outB[i] = l.best(bestA, outA[i]), l.best(bestB, outB[i])
		}
	}
	transposeOut((*[8][]uint8)(dst[:8]), a, n)
	transposeOut((*[8][]uint8)(dst[8:]), b, n)
}

// transposeIn writes columns 0 … n−1 of eight rows as words, row 0 in the lowest byte. Both slices must reach the next
// multiple of eight.
func transposeIn(dst []uint64, rows *[8][]uint8, n int) {
	for x := 0; x < n; x += 8 {
		read := func(i int) uint64 { return binary.LittleEndian.Uint64(rows[i][x:]) }
		w := (*[8]uint64)(dst[x:])
		w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7] = transpose8(read(0), read(1), read(2), read(3), read(4),
			read(5), read(6), read(7))
	}
}

// transposeOut undoes transposeIn; samples after the n columns stay.
func transposeOut(rows *[8][]uint8, src []uint64, n int) {
	x := 0
	for ; x+8 <= n; x += 8 {
		write := func(i int, w uint64) { binary.LittleEndian.PutUint64(rows[i][x:], w) }
		w := (*[8]uint64)(src[x:])
		a, b, c, d, e, f, g, h := transpose8(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
		write(0, a)
		write(1, b)
		write(2, c)
		write(3, d)
		write(4, e)
		write(5, f)
		write(6, g)
		write(7, h)
	}
	for ; x < n; x++ {
		for i, row := range rows {
			row[x] = uint8(src[x] >> (8 * i))
		}
	}
}

// transpose8 transposes 8 × 8 bytes, by exchanging quarters of quarters (Warren, Hacker's Delight, 7-3).
func transpose8(a, b, c, d, e, f, g, h uint64) (_, _, _, _, _, _, _, _ uint64) {
	const bytes, pairs, fours = 0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff
	a, b = exchange(a, b, bytes, 8)
	c, d = exchange(c, d, bytes, 8)
	e, f = exchange(e, f, bytes, 8)
	g, h = exchange(g, h, bytes, 8)
	a, c = exchange(a, c, pairs, 16)
	b, d = exchange(b, d, pairs, 16)
	e, g = exchange(e, g, pairs, 16)
	f, h = exchange(f, h, pairs, 16)
	a, e = exchange(a, e, fours, 32)
	b, f = exchange(b, f, fours, 32)
	c, g = exchange(c, g, fours, 32)
	d, h = exchange(d, h, fours, 32)
	return a, b, c, d, e, f, g, h
}

// exchange swaps the high parts of a with the low parts of b.
func exchange(a, b, low uint64, shift uint) (uint64, uint64) {
	x := (a>>shift ^ b) & low
	return a ^ x<<shift, b ^ x
}
