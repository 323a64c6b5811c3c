package colour

import (
	"encoding/binary"
	"fmt"
)

// lut converts device samples to the connection space through tables: a curve for each channel, a grid, and a curve, a
// matrix and another curve for each of the three results. Parts that a profile omits are neutral.
type lut struct {
	channels int
	shaper   [4]curve
	// nodes are the grid points along each channel; grid holds three values for each, the last channel running fastest.
	// Without a grid the three channels pass through.
	nodes  [4]int
	grid   []float32
	middle [3]curve
	matrix matrix
	offset [3]float64
	last   [3]curve
	// decode converts the results, 0…1, to XYZ relative to D50. lab: they are L*a*b*; otherwise XYZ.
	decode func(v [3]float64) [3]float64
	lab    bool
}

// readTables reads a lut8Type, lut16Type or lutAToBType element (ICC.1:2022, 10.10 to 10.12).
func readTables(b []byte, channels int, lab bool) (*lut, error) {
	if len(b) < 32 {
		return nil, bad("a table is truncated")
	}
	kind := string(b[:4])
	if kind != "mft1" && kind != "mft2" && kind != "mAB " {
		return nil, fmt.Errorf("%w: %w %q", ErrProfile, errKind, kind)
	}
	if int(b[8]) != channels || b[9] != 3 {
		return nil, bad("a table from %d to %d channels: %d to 3 expected", b[8], b[9], channels)
	}
	l := &lut{channels: channels, matrix: identity(), decode: fromXYZ16, lab: lab}
	for i := range l.shaper {
		l.shaper[i] = unit
	}
	for i := range l.middle {
		l.middle[i], l.last[i] = unit, unit
	}
	if lab {
		l.decode = fromLab16
		if kind == "mft2" {
			l.decode = fromLegacyLab16
		}
	}
	read := l.readAToB
	if kind != "mAB " {
		read = l.readPlain
	}
	if err := read(b); err != nil {
		return nil, err
	}
	return l, nil
}

func fromXYZ16(v [3]float64) [3]float64 {
	for i := range v {
		v[i] *= 65535. / 32768
	}
	return v
}

func fromLab16(v [3]float64) [3]float64 {
	return fromLab([3]float64{100 * v[0], 255*v[1] - 128, 255*v[2] - 128})
}

// fromLegacyLab16 decodes the L*a*b* of lut16Type, whose 100 is FF00 hexadecimal in every version of the standard.
func fromLegacyLab16(v [3]float64) [3]float64 {
	const stretch = 65535. / 65280
	return fromLab16([3]float64{v[0] * stretch, v[1] * stretch, v[2] * stretch})
}

// readPlain reads lut8Type or lut16Type. Their matrix applies only to XYZ as the input.
func (l *lut) readPlain(b []byte) error {
	inputs, outputs, bytes, at := 256, 256, 1, 48
	if string(b[:4]) == "mft2" {
		if len(b) < 52 {
			return bad("a table is truncated")
		}
		inputs, outputs, bytes, at = int(binary.BigEndian.Uint16(b[48:])), int(binary.BigEndian.Uint16(b[50:])), 2, 52
	}
	if inputs < 2 || outputs < 2 {
		return bad("a table has curves of %d and %d values: at least 2 expected", inputs, outputs)
	}
	for i := range l.channels {
		l.nodes[i] = int(b[10])
	}
	r := reader{b: b, at: at}
	for i := range l.channels {
		l.shaper[i] = r.curve(inputs, bytes)
	}
	l.grid = r.values(l.gridSize(), bytes)
	for i := range l.last {
		l.last[i] = r.curve(outputs, bytes)
	}
	return r.err
}

// gridSize returns the number of values of the grid; −1 for invalid numbers of nodes.
func (l *lut) gridSize() int {
	n := 3
	for _, g := range l.nodes[:l.channels] {
		// More than a profile of 4 GiB can hold, so that the product does not overflow.
		if g < 2 || n > 1<<32 {
			return -1
		}
		n *= g
	}
	return n
}

// reader reads consecutive runs of values and keeps the first error.
type reader struct {
	b   []byte
	at  int
	err error
}

// values returns n values, 0…1, of one or two bytes.
func (r *reader) values(n, bytes int) []float32 {
	if r.err == nil && (n < 0 || n > (len(r.b)-r.at)/bytes) {
		r.err = bad("a table is truncated")
	}
	if r.err != nil {
		return nil
	}
	v := make([]float32, n)
	for i := range v {
		if bytes == 1 {
			v[i] = float32(r.b[r.at+i]) / 255
		} else {
			v[i] = float32(binary.BigEndian.Uint16(r.b[r.at+2*i:])) / 65535
		}
	}
	r.at += n * bytes
	return v
}

func (r *reader) curve(n, bytes int) curve {
	v := r.values(n, bytes)
	if r.err != nil {
		return unit
	}
	wide := make([]float64, n)
	for i := range wide {
		wide[i] = float64(v[i])
	}
	return table(wide)
}

// readAToB reads lutAToBType: curves A, grid, curves M, matrix, curves B.
func (l *lut) readAToB(b []byte) error {
	at := func(i int) uint64 { return uint64(binary.BigEndian.Uint32(b[12+4*i:])) }
	curvesB, matrixAt, curvesM, gridAt, curvesA := at(0), at(1), at(2), at(3), at(4)
	if err := readCurves(b, curvesB, l.last[:]); err != nil {
		return err
	}
	if matrixAt != 0 {
		if matrixAt+48 > uint64(len(b)) {
			return bad("the matrix of a table is truncated")
		}
		m := b[matrixAt:]
		for i := range 3 {
			for k := range 3 {
				l.matrix[i][k] = fixed(m[4*(3*i+k):])
			}
			l.offset[i] = fixed(m[36+4*i:])
		}
		if err := readCurves(b, curvesM, l.middle[:]); err != nil {
			return err
		}
	}
	if gridAt == 0 {
		if l.channels != 3 {
			return bad("a table of %d channels has no grid", l.channels)
		}
		return nil
	}
	if err := readCurves(b, curvesA, l.shaper[:l.channels]); err != nil {
		return err
	}
	if gridAt+20 > uint64(len(b)) {
		return bad("the grid of a table is truncated")
	}
	g := b[gridAt:]
	for i := range l.channels {
		l.nodes[i] = int(g[i])
	}
	bytes := int(g[16])
	if bytes != 1 && bytes != 2 {
		return bad("grid values of %d bytes: 1 or 2 expected", bytes)
	}
	r := reader{b: g, at: 20}
	l.grid = r.values(l.gridSize(), bytes)
	return r.err
}

// readCurves reads consecutive curves, each from a multiple of four bytes. At offset 0 there are none.
func readCurves(b []byte, at uint64, dst []curve) error {
	if at == 0 {
		return nil
	}
	for i := range dst {
		if at >= uint64(len(b)) {
			return bad("the curves of a table are truncated")
		}
		c, size, err := readCurve(b[at:])
		if err != nil {
			return err
		}
		dst[i] = c
		at += uint64(size+3) &^ 3
	}
	return nil
}

// xyz returns the XYZ relative to D50 of a colour with samples in 0…1.
func (l *lut) xyz(v [4]float64) [3]float64 {
	for i := range l.channels {
		v[i] = unit(l.shaper[i](v[i]))
	}
	return l.behind(v)
}

// behind applies all stages after the first curves.
func (l *lut) behind(v [4]float64) [3]float64 {
	r := [3]float64{v[0], v[1], v[2]}
	if l.grid != nil {
		r = l.interpolate(v)
	}
	for i := range r {
		r[i] = l.middle[i](r[i])
	}
	r = l.matrix.apply(r)
	for i := range r {
		r[i] = l.last[i](r[i] + l.offset[i])
	}
	return l.decode(r)
}

// interpolate looks up the grid: by tetrahedra in the last three channels, linearly in the first of four or of one.
func (l *lut) interpolate(v [4]float64) [3]float64 {
	var node, step [4]int
	var part [4]float64
	stride := 3
	for i := l.channels - 1; i >= 0; i-- {
		at := v[i] * float64(l.nodes[i]-1)
		cell := min(int(at), l.nodes[i]-2)
		node[i], part[i], step[i] = cell*stride, at-float64(cell), stride
		stride *= l.nodes[i]
	}
	base := node[0] + node[1] + node[2] + node[3]
	if l.channels == 3 {
		return l.tetrahedron(base, step[0:3], part[0:3])
	}
	var a, b [3]float64
	if l.channels == 1 {
		a, b = l.tetrahedron(base, nil, nil), l.tetrahedron(base+step[0], nil, nil)
	} else {
		a, b = l.tetrahedron(base, step[1:], part[1:]), l.tetrahedron(base+step[0], step[1:], part[1:])
	}
	for i := range a {
		a[i] += (b[i] - a[i]) * part[0]
	}
	return a
}

// tetrahedron walks from the base node along the channels, the one with the largest part first.
func (l *lut) tetrahedron(base int, step []int, part []float64) (r [3]float64) {
	var done [3]bool
	rest := 1.0
	add := func(weight float64) {
		for i := range r {
			r[i] += weight * float64(l.grid[base+i])
		}
	}
	for range step {
		next := -1
		for i := range step {
			if !done[i] && (next < 0 || part[i] > part[next]) {
				next = i
			}
		}
		add(rest - part[next])
		rest, done[next] = part[next], true
		base += step[next]
	}
	add(rest)
	return r
}
