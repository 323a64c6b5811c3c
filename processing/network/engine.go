package network

import (
	"slices"

	"blik/internal/simd"
)

// Engine computes logits fast. It is safe for concurrent use.
type Engine struct {
	model   *Model
	kernels *kernels
	nodes   []node
	// pad is the number of cells on either side of a row that the weights may reach.
	pad int
	// taps is the maximum number of taps of a layer.
	taps int
}

func (e *Engine) Model() *Model { return e.model }

// kernels are the inner loops for a level of vector instructions.
type kernels struct {
	// block is the number of cells in a block; it is even.
	block int
	// convolve computes four channels of a row. A row is processed in parts with about products = blocks · taps each,
	// all channels of one part before the next, so that its sources stay in the L1 cache. If products is 0, the whole
	// row is one part.
	convolve func(j *job)
	products int
	// grouped says that convolve adds up groups of taps in 16 bits.
	grouped bool
	// The others are described at their plain versions: double and halve change the resolution of a row, outputs takes
	// the result apart, and what follows computes the input.
	double   func(dst, src []uint32)
	halve    func(dst, upper, lower []uint32)
	outputs  func(logits, kinds []uint8, cells []uint32)
	darkest  func(dst, a, b, c []uint8)
	cells    func(p *inputRows, row []int32)
	exchange func(sums, enter, leave []int32)
	factors  func(p *inputRows, rows int32)
	planes   func(p *inputRows, dst []int8, segment, k int)
}

// blocksOfPart divides the number of blocks in a part of a row.
const blocksOfPart = 3

// NewEngine prepares a model for a level of vector instructions, which the processor must support.
func NewEngine(m *Model, level simd.Level) *Engine {
	e := &Engine{model: m, kernels: kernelsOf(level), nodes: m.graph()}
	for i := range e.nodes {
		n := &e.nodes[i]
		if n.kind == convolve || n.kind == share {
			n.packed = n.packs(e.nodes, e.kernels.grouped)
			e.pad = max(e.pad, n.layer.reach())
			sum := 0
			for k := range n.packed {
				sum += len(n.packed[k].taps)
			}
			e.taps = max(e.taps, sum)
		}
	}
	e.pad = (e.pad + 15) &^ 15
	return e
}

// Picture holds the input samples of the network, without padding between rows.
type Picture struct {
	Red, Green, Blue []uint8
	Width, Height    int
}

// Rect is a part of a picture, X1 and Y1 excluded.
type Rect struct{ X0, Y0, X1, Y1 int }

// Scratch is the reusable memory of one goroutine.
type Scratch struct {
	memory []int8
	strip  strip
}

// Run writes the logits of glare for a part of a picture, in sixteenths plus offset and clamped to 0…255, into dst,
// which has the row length of the picture, and the kinds (see KindOf) into kinds, which may be nil. The first row and
// column must be multiples of Model.Grain. It calls stop before each row of a layer and returns early if that returns
// true, and more before each row of the result, which returns false if that is not needed, nor are those below.
func (e *Engine) Run(dst, kinds []uint8, pic Picture, r Rect, offset int, scratch *Scratch, stop func() bool,
	more func(y int) bool) {
	s := &scratch.strip
	s.begin(e, pic, r, scratch, stop)
	last := len(e.nodes) - 1
	for y := r.Y0; y < r.Y1 && more(y); y++ {
		if !s.ensure(last, y, int32(offset)) {
			return
		}
		from, to := y*pic.Width+r.X0, y*pic.Width+r.X1
		cells := s.cells(s.row(last, y), r.X1-r.X0)
		if kinds == nil {
			e.kernels.outputs(dst[from:to], nil, cells)
		} else {
			e.kernels.outputs(dst[from:to], kinds[from:to], cells)
		}
	}
}

// Place is a pixel whose channels are requested; they are stored at index At of the result.
type Place struct{ X, Y, At int }

// Channels writes the Model.Hidden activations of the last hidden layer at places within a part of a picture;
// Model.Hidden must not be 0. For r, scratch and stop see Run.
func (e *Engine) Channels(out []uint8, pic Picture, r Rect, places []Place, scratch *Scratch, stop func() bool) {
	places = slices.SortedStableFunc(slices.Values(places), func(a, b Place) int { return a.Y - b.Y })
	s := &scratch.strip
	s.begin(e, pic, r, scratch, stop)
	last := len(e.nodes) - 1
	hidden := e.nodes[last].from[0]
	channels := e.model.Hidden()
	for y := r.Y0; len(places) > 0 && s.ensure(last, y, 0); y++ {
		for len(places) > 0 && places[0].Y == y {
			at := s.row(hidden, y) + 4*(places[0].X-s.columns[hidden].from)
			to := out[places[0].At*channels:][:channels]
			for c := range to {
				to[c] = uint8(s.memory[at+c/4*s.rings[hidden].segment+c%4])
			}
			places = places[1:]
		}
	}
}

// strip is the state of the inference on a part of a picture.
type strip struct {
	*Engine
	pic  Picture
	stop func() bool
	// height and width are the sizes of the nodes for the picture; rows and columns the ranges needed for the part.
	height, width []int
	rows, columns []span
	rings         []ring
	// zeros is the offset of a row outside the picture.
	zeros  int
	memory []int8
	// next is the next row to compute for each node.
	next []int
	// sources are the positions of the taps of each node, one pack after the other; taps are those of the current row.
	sources [][]source
	taps    []int32
	job     job
	inputs  inputRows
}

// source is the input of a tap: one of three rows per input node of a layer, and an offset in it.
type source struct{ row, place int32 }

// ring keeps the most recent rows of a node. A row consists of blocks of segment bytes. Each block holds four channels
// of pad cells, the cells of the node's columns, further cells for the last vectors, and pad cells again.
type ring struct {
	place, rows, segment, bytes int
}

// begin prepares for a part of a picture.
func (s *strip) begin(e *Engine, pic Picture, r Rect, scratch *Scratch, stop func() bool) {
	n := len(e.nodes)
	*s = strip{Engine: e, pic: pic, stop: stop, inputs: s.inputs, next: make([]int, n), rings: make([]ring, n),
		rows: make([]span, n), columns: make([]span, n)}
	s.height, s.width = sizes(e.nodes, pic.Width, pic.Height)
	for i := n - 1; i >= 0; i-- {
		node := &e.nodes[i]
		if i == n-1 {
			s.rows[i], s.columns[i] = span{r.Y0, r.Y1}, span{r.X0, r.X1}
		}
		if s.rows[i] == (span{}) {
			continue // Not needed.
		}
		s.next[i] = s.rows[i].from
		if node.shared {
			// Sums are added to two columns at a time.
			s.columns[i].from -= s.columns[i].from % 2
		}
		for k, source := range node.from {
			rows := node.needs(k, s.rows[i]).clip(s.height[source])
			columns := node.needs(k, s.columns[i]).clip(s.width[source])
			if old := s.rows[source]; old != (span{}) {
				rows, columns = rows.join(old), columns.join(s.columns[source])
			}
			s.rows[source], s.columns[source] = rows, columns
		}
	}
	// The input is computed in cells.
	s.columns[0].from -= s.columns[0].from % cellSide
	s.plan()
	block := e.kernels.block
	size, widest := 0, 0
	for i := range s.rings {
		q := &s.rings[i]
		c := s.columns[i]
		// An odd number of cache lines spreads the blocks of a row over the cache sets.
		q.segment = ((4*(2*e.pad+c.to-c.from+block)+line-1)/line | 1) * line
		q.bytes = q.segment * e.nodes[i].blocks
		q.place = size
		size += q.rows * q.bytes
		widest = max(widest, q.bytes)
	}
	s.zeros = size
	size += widest
	if len(scratch.memory) < size {
		scratch.memory = aligned(size)
	}
	s.memory = scratch.memory[:size]
	clear(s.memory)
	s.taps = make([]int32, e.taps)
	s.sources = make([][]source, n)
	for i := range e.nodes {
		node := &e.nodes[i]
		for _, p := range node.packed {
			for _, t := range p.taps {
				place := t.block*s.rings[node.from[t.source]].segment + 4*t.column
				s.sources[i] = append(s.sources[i], source{int32(3*t.source + t.row), int32(place)})
			}
		}
	}
	s.inputs.begin(e.kernels, s.pic, s.rows[0], s.columns[0])
}

// plan determines how many rows of each node are needed at the same time, by simulating the whole computation.
func (s *strip) plan() {
	next := append([]int(nil), s.next...)
	var ensure func(i, row int)
	ensure = func(i, row int) {
		for ; next[i] <= row; next[i]++ {
			taken := func(k, source int) span {
				return s.nodes[i].needs(k, span{next[i], next[i] + 1}).clip(s.height[source])
			}
			for k, source := range s.nodes[i].from {
				ensure(source, taken(k, source).to-1)
			}
			// Only after all sources are ensured, because one of them may compute further rows of another.
			for k, source := range s.nodes[i].from {
				first := taken(k, source).from
				s.rings[source].rows = max(s.rings[source].rows, next[source]-first)
			}
		}
	}
	last := len(s.nodes) - 1
	for y := s.rows[last].from; y < s.rows[last].to; y++ {
		ensure(last, y)
	}
	s.rings[last].rows = 1
}

// row returns the offset of a row's first needed cell in its first block.
func (s *strip) row(node, y int) int {
	q := &s.rings[node]
	return q.place + y%q.rows*q.bytes + 4*s.pad
}

// ensure computes the rows of a node up to the given one, and returns false if it was stopped.
func (s *strip) ensure(i, row int, offset int32) bool {
	n := &s.nodes[i]
	for ; s.next[i] <= row; s.next[i]++ {
		y := s.next[i]
		for k, source := range n.from {
			if !s.ensure(source, n.needs(k, span{y, y + 1}).clip(s.height[source]).to-1, offset) {
				return false
			}
		}
		if s.stop() {
			return false
		}
		switch n.kind {
		case input:
			s.inputs.pixelRow(s.memory[s.row(0, y):], s.rings[0].segment, y)
		case convolve, share:
			s.convolve(i, y, offset)
		case repeat:
			s.repeatRow(i, y)
		case pool:
			s.poolRow(i, y)
		}
		s.end(i, y)
	}
	return true
}

// end clears the cells beyond a row's end at the picture's border: the values computed there are not part of the
// picture.
func (s *strip) end(i, y int) {
	c := s.columns[i]
	if c.to < s.width[i] {
		return
	}
	at := s.row(i, y) + 4*(c.to-c.from)
	for range s.nodes[i].blocks {
		clear(s.memory[at : at+4*s.pad])
		at += s.rings[i].segment
	}
}

// convolve computes a row of a layer, or of a share of it; the offset is added to the first channel of the last layer,
// which is clamped to 8 bits.
func (s *strip) convolve(i, y int, offset int32) {
	n, c := &s.nodes[i], s.columns[i]
	l := n.layer
	block := s.kernels.block
	j := &s.job
	blocks := (c.to - c.from + block - 1) / block
	j.add, j.top, j.raw, j.apart = 0, Top, n.kind == share, s.rings[i].segment
	if i == len(s.nodes)-1 {
		j.add, j.top = offset, 255
	}
	// starts are the offsets of the rows under the weights, in each source, for the result's first column.
	side := l.Kind.Side()
	var starts [3 * maxLayers]int32
	for k := range n.first {
		source := n.from[k]
		for row := range side {
			at := y + row*l.Dilation - l.reach()
			first := c.from - s.columns[source].from
			place := s.zeros + 4*s.pad
			if at >= 0 && at < s.height[source] {
				place = s.row(source, at) + 4*first
			}
			starts[3*k+row] = int32(place)
		}
	}
	sources := s.sources[i]
	taps := s.taps[:len(sources)]
	for k, t := range sources {
		taps[k] = starts[t.row] + t.place
	}
	part := blocks
	if k := s.kernels; k.products > 0 {
		part = max(blocksOfPart, k.products/max(1, len(n.packed[0].taps))/blocksOfPart*blocksOfPart)
	}
	next := s.rings[i].segment
	if j.raw {
		next *= 4
	}
	sums := 0
	if n.shared {
		source := n.from[len(n.first)]
		j.apart = s.rings[source].segment
		sums = s.row(source, y/2) + 4*(c.from/2-s.columns[source].from)
	}
	for first := 0; first < blocks; first += part {
		j.memory, j.blocks = s.memory[4*block*first:], min(part, blocks-first)
		j.dst = s.row(i, y)
		rest := taps
		for b := range n.packed {
			j.pack = &n.packed[b]
			j.taps, rest = rest[:len(j.pack.taps)], rest[len(j.pack.taps):]
			if n.shared {
				j.shared = s.memory[sums+4*j.apart*b+2*block*first:]
			}
			s.kernels.convolve(j)
			j.dst += next
		}
	}
	j.shared = nil
}

// repeatRow repeats the cells of a coarser row.
func (s *strip) repeatRow(i, y int) {
	n, c := &s.nodes[i], s.columns[i]
	source := n.from[0]
	dst, src := s.row(i, y), s.row(source, y/n.times)
	first := s.columns[source].from
	for range n.blocks {
		to, from := s.cells(dst, c.to-c.from), s.cells(src, s.columns[source].to-first)
		if n.times == 2 {
			from = from[c.from/2-first:]
			if c.from%2 != 0 {
				to[0] = from[0]
				to, from = to[1:], from[1:]
			}
			s.kernels.double(to, from)
			dst += s.rings[i].segment
			src += s.rings[source].segment
			continue
		}
		left := n.times - c.from%n.times
		for x, i := 0, c.from/n.times-first; x < len(to); i++ {
			v := from[i]
			for end := min(x+left, len(to)); x < end; x++ {
				to[x] = v
			}
			left = n.times
		}
		dst += s.rings[i].segment
		src += s.rings[source].segment
	}
}

// poolRow computes a row of half the resolution.
func (s *strip) poolRow(i, y int) {
	n, c := &s.nodes[i], s.columns[i]
	source := n.from[0]
	dst := s.row(i, y)
	upper, lower := s.row(source, 2*y), s.row(source, min(2*y+1, s.height[source]-1))
	first, width := 2*c.from-s.columns[source].from, min(2*c.to, s.width[source])-2*c.from
	for range n.blocks {
		to := s.cells(dst, c.to-c.from)
		a, b := s.cells(upper+4*first, width), s.cells(lower+4*first, width)
		s.kernels.halve(to[:width/2], a, b)
		if width%2 != 0 {
			s.kernels.halve(to[width/2:], []uint32{a[width-1], a[width-1]}, []uint32{b[width-1], b[width-1]})
		}
		dst += s.rings[i].segment
		upper += s.rings[source].segment
		lower += s.rings[source].segment
	}
}

// cells returns n cells of a block, starting at an offset.
func (s *strip) cells(place, n int) []uint32 { return cellsOf(s.memory, place, n) }
