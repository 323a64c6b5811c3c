package detect

import (
	"image"
	"math"

	"blik/processing"
)

// A lamp that makes one glint mostly makes others near it; a painted light mostly stands alone. So components are the
// stronger the more of them lie together.
const (
	// companyCell is the side of a cell, in pixels. Like the network's coarsest ones, cells begin at the first pixel of
	// the picture.
	companyCell = partGrain
	// companyReach is how far around the cell of a component others count, in cells.
	companyReach = 10
	// companyWhole is the evidence from which a component counts as one; less counts in proportion.
	companyWhole = 40
	// companyUnit is a component in sums: these are integers, so that their order does not matter.
	companyUnit = 256
)

// company returns the factor of the strength of a component with a number of others around it.
func company(others float64) float64 {
	const (
		many  = 3
		power = 0.35
	)
	return math.Pow(1+float64(others/many), power)
}

// othersAround returns, for each component, how many others lie in the cells within companyReach of its own. They lie
// at places in a picture of w × h pixels, each with its evidence.
func othersAround(w, h int, at []image.Point, evidences []float64) []float64 {
	// A summed-area table: element (x, y) is the sum of the cells left of column x and above row y.
	cols, rows := (w-1)/companyCell+1, (h-1)/companyCell+1
	stride := cols + 1
	sums := make([]uint64, stride*(rows+1))
	own := make([]uint64, len(at))
	for i, p := range at {
		own[i] = uint64(float64(min(evidences[i]/companyWhole, 1)*companyUnit) + 0.5)
		sums[(p.Y/companyCell+1)*stride+p.X/companyCell+1] += own[i]
	}
	for y := 1; y <= rows; y++ {
		row, above := sums[y*stride:][:stride], sums[(y-1)*stride:][:stride]
		var sum uint64
		for x := 1; x <= cols; x++ {
			sum += row[x]
			row[x] = sum + above[x]
		}
	}
	around := make([]float64, len(at))
	for i, p := range at {
		x, y := p.X/companyCell, p.Y/companyCell
		x0, x1 := max(x-companyReach, 0), min(x+companyReach+1, cols)
		y0, y1 := max(y-companyReach, 0), min(y+companyReach+1, rows)
		all := sums[y1*stride+x1] - sums[y0*stride+x1] - sums[y1*stride+x0] + sums[y0*stride+x0]
		around[i] = float64(all-own[i]) / companyUnit
	}
	return around
}

// middle returns the centre of the box around spans, rounded down.
func middle(spans []processing.Span) image.Point {
	x0, x1 := spans[0].X0, spans[0].X1
	for _, s := range spans {
		x0, x1 = min(x0, s.X0), max(x1, s.X1)
	}
	return image.Pt(int(x0+x1-1)/2, int(spans[0].Y+spans[len(spans)-1].Y)/2)
}
