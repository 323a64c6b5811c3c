//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"blik/processing"
	"blik/processing/network"
)

// Glints runs the network. Large pictures are processed in strips, which bounds the memory for activations.
func (b executor) Glints(ctx context.Context, op processing.Glints) error {
	return b.run(ctx, func(q *queue) error {
		v, err := q.glints(op)
		if err != nil {
			return err
		}
		return v.rows(0, v.dst.h)
	})
}

// glints is one call of Glints.
type glints struct {
	networkRun
	dst, kinds *plane
	in         [3]*plane
	// strip is the number of rows processed at a time, border the number of additional rows needed on each side.
	strip, border int
}

func (q *queue) glints(op processing.Glints) (*glints, error) {
	p, d, grain := q.b.program(op.Model), op.Dst.(*plane), op.Model.Grain()
	up := func(n int) int { return roundUp(n, grain) }
	blob, err := q.constants(p.numbers)
	if err != nil {
		return nil, err
	}
	q.writes(d)
	// Without memory the kernels write no kinds.
	kinds := &plane{}
	if op.Kinds != nil {
		kinds = op.Kinds.(*plane)
		q.writes(kinds)
	}
	return &glints{
		networkRun: networkRun{q: q, p: p, numbers: blob, w: d.w, offset: op.Offset}, dst: d, kinds: kinds,
		in:    [3]*plane{op.Red.(*plane), op.Green.(*plane), op.Blue.(*plane)},
		strip: max(up(p.strip/d.w), grain), border: up(op.Model.Reach()),
	}, nil
}

// rows queues the work on rows from…to−1; from is a multiple of the model's grain, and so is to where it is not the
// height.
func (v *glints) rows(from, to int) error {
	for top := from; top < to; top += v.strip {
		first, end := max(0, top-v.border), min(to, top+v.strip)
		v.begin(min(v.dst.h, end+v.border)-first, v.dst.from(first), v.kindsFrom(first))
		v.from, v.to = top-first, end-first
		if err := v.advance([3]*plane{v.in[0].from(first), v.in[1].from(first), v.in[2].from(first)}, v.h); err != nil {
			return err
		}
	}
	return nil
}

// kindsFrom returns the kinds from a row on, if there is memory for them.
func (v *glints) kindsFrom(y int) *plane {
	if v.kinds.memory.bytes == 0 {
		return v.kinds
	}
	return v.kinds.from(y)
}

// GlintChannels keeps the last hidden layer of each strip until the activations of the pixels in it have been fetched.
func (b executor) GlintChannels(ctx context.Context, op processing.GlintChannels) ([]uint8, error) {
	in := [3]*plane{op.Red.(*plane), op.Green.(*plane), op.Blue.(*plane)}
	w, h, channels := in[0].w, in[0].h, op.Model.Hidden()
	grain := op.Model.Grain()
	up := func(n int) int { return roundUp(n, grain) }
	border := up(op.Model.Reach())
	out := make([]uint8, channels*len(op.Index))
	return out, b.run(ctx, func(q *queue) error {
		p := b.program(op.Model)
		strip := max(up(p.strip/w), grain)
		blob, err := q.constants(p.numbers)
		if err != nil {
			return err
		}
		r := networkRun{q: q, p: p, numbers: blob, w: w, keep: true}
		for top := 0; top < h; top += strip {
			first := max(0, top-border)
			var places []int
			for i, at := range op.Index {
				if y := int(at) / w; y >= top && y < top+strip {
					places = append(places, i)
				}
			}
			if len(places) == 0 {
				continue
			}
			r.begin(min(h, top+strip+border)-first, &plane{}, &plane{})
			if err := r.advance([3]*plane{in[0].from(first), in[1].from(first), in[2].from(first)}, r.h); err != nil {
				return err
			}
			if err := r.channels(out, op.Index, places, first); err != nil {
				return err
			}
		}
		return nil
	})
}

// channels fetches the activations of the last hidden layer for the pixels of index at the given places; first is the
// first row of the strip.
func (r *networkRun) channels(out []uint8, index []uint32, places []int, first int) error {
	s := &r.p.steps[len(r.p.steps)-2]
	v := r.values[len(r.p.steps)-2]
	at := make([]uint32, 0, s.out*len(places))
	for _, i := range places {
		x, y := int(index[i])%r.w, int(index[i])/r.w-first
		for g := range s.out {
			at = append(at, uint32((y*v.w+x)*s.out+g))
		}
	}
	list, err := r.q.constants(BytesOf(at))
	if err != nil {
		return err
	}
	found, err := r.q.bytes(4 * int64(len(at)))
	if err != nil {
		return err
	}
	// The activations are a plane of words.
	words := &plane{w: v.w * s.out, pitch: 4 * int64(v.w) * int64(s.out), memory: v.memory}
	grid, block := Along(len(at))
	if err := r.q.Launch("gatherU32", grid, block, found, words, list, len(at), words.w); err != nil {
		return err
	}
	host, err := r.q.Fetch(found, 4*len(at))
	if err != nil {
		return err
	}
	for k, i := range places {
		copy(out[i*s.layer.Out:(i+1)*s.layer.Out], host[4*s.out*k:])
	}
	return nil
}

// networkStrip bounds the memory for activations: about 60 bytes per pixel, twice as many if the picture arrives in
// parts.
const networkStrip = 24 << 20

// networkProgram is a model prepared for the device: its numbers in the layout of the kernels, and a step for each
// layer.
type networkProgram struct {
	model   *network.Model
	numbers []byte
	steps   []networkStep
	// inputLast is the last layer that reads the input.
	inputLast int
	// strip is the approximate number of pixels processed at a time.
	strip int
}

// networkStep describes how a layer is computed.
type networkStep struct {
	layer network.Layer
	// last is the number of the last layer that uses the result.
	last int
	// groups is the number of words per pixel of all sources together, out that of the result.
	groups, out int
	// weights, bias and shift are offsets in numbers.
	weights, bias, shift int
	// kernel is that for tensor cores, "" for any GPU's: columns is how many matrices a warp adds up beside each other,
	// parts how many warps share the outputs, slots the groups that it reads of a pixel or of all taps.
	kernel               string
	columns, parts, slot int
	// shape is how the layer is divided among tensor cores.
	shape shape
	// follows: the previous layer also computes this one.
	follows bool
}

// groupsOf returns the number of words for a pixel of n channels: activations are padded to multiples of sixteen.
func groupsOf(channels int) int { return (channels + 15) / 16 * 4 }

// program returns the prepared model. The last one is cached.
func (b *Backend) program(m *network.Model) *networkProgram {
	if b.network == nil || b.network.model != m {
		b.network = newNetworkProgram(m, b.device.info.Capability >= tensorCapability)
	}
	return b.network
}

// tensorCapability is the lowest compute capability with the tensor core instructions of network.cu.
const tensorCapability = 80

func newNetworkProgram(m *network.Model, tensors bool) *networkProgram {
	p := &networkProgram{model: m, strip: networkStrip}
	for i := range m.Layers {
		s := networkStep{layer: m.Layers[i], last: i}
		for _, from := range s.layer.From {
			s.groups += p.groups(from)
			if from == network.Input {
				p.inputLast = i
			} else {
				p.steps[from].last = i
			}
		}
		s.out = groupsOf(s.layer.Out)
		p.steps = append(p.steps, s)
	}
	for i := range p.steps {
		if tensors {
			p.choose(i)
		}
		p.pack(&p.steps[i])
	}
	return p
}

// groups returns the number of words for a pixel of a layer or of the input.
func (p *networkProgram) groups(layer int) int {
	if layer == network.Input {
		return groupsOf(network.Inputs)
	}
	return p.steps[layer].out
}

// choose selects a tensor core kernel for layer i, if there is one.
func (p *networkProgram) choose(i int) {
	s := &p.steps[i]
	matrices := (s.layer.Out + 7) / 8
	if i == len(p.steps)-1 {
		// It is fused with the previous convolution if that has all channels of a pixel in one warp.
		if i == 0 || s.layer.Kind != network.Conv1 || !slices.Equal(s.layer.From, []int{i - 1}) {
			return
		}
		before := &p.steps[i-1]
		shape, convolves := strings.CutPrefix(before.kernel, networkConvolve)
		if convolves && before.parts == 1 && slices.Contains([]string{"4x2", "8x4"}, shape) {
			before.kernel = networkEnd + shape
			before.shape.blocks = map[string]int{"4x2": 6, "8x4": 3}[shape]
			s.follows, s.kernel, s.columns, s.parts, s.slot = true, networkEnd, 1, 1, before.out
		}
		return
	}
	// columns are how many matrices a warp may have: as few as possible are left over, then as few warps as possible.
	best := func(columns ...int) {
		for _, n := range columns {
			if parts := (matrices + n - 1) / n; s.columns == 0 || parts*n <= s.parts*s.columns {
				s.columns, s.parts = n, parts
			}
		}
	}
	switch {
	case s.layer.Kind == network.Conv3 && len(s.layer.From) == 1 && s.groups <= 16:
		best(2, 3)
		if s.groups <= 8 {
			best(2, 3, 4)
		}
		s.kernel, s.slot = fmt.Sprintf("%s%dx%d", networkConvolve, s.groups, s.columns), 9*s.groups
		s.shape = convolutionShape(s)
		if s.shape.shared(s) > MaxShared || s.groups <= 8 && s.layer.Dilation > 1 {
			s.kernel = ""
		}
	case s.layer.Kind == network.Conv1 && s.groups <= 32:
		best(2, 3, 4)
		quads := (s.groups + 7) / 8 * 2
		s.kernel, s.slot = fmt.Sprintf("networkMix%dx%d", quads, s.columns), 4*quads
		s.shape = shape{warps: mostWarps / s.parts * s.parts, blocks: mixBlocks[quads/2-1][s.columns-2]}
	}
	if s.parts > mostWarps {
		s.kernel = ""
	}
}

// Prefixes of kernel names: a convolution, and one that also computes the last layer.
const (
	networkConvolve = "networkConvolve"
	networkEnd      = "networkEnd"
)

// mostWarps is the maximum number of warps in a block of network.cu.
const mostWarps = 8

// weight returns the weight of a tap for an output and an input, counted in the padded channels of all sources; 0 for
// padding.
func (p *networkProgram) weight(s *networkStep, output, input, tap int) int8 {
	l := &s.layer
	taps := l.Kind.Side() * l.Kind.Side()
	if output >= l.Out || tap >= taps {
		return 0
	}
	channel := 0
	for _, from := range l.From {
		padded, n := 4*p.groups(from), network.Inputs
		if from != network.Input {
			n = p.steps[from].layer.Out
		}
		if input < padded {
			if input >= n {
				return 0
			}
			return l.Weights[(output*l.In+channel+input)*taps+tap]
		}
		input -= padded
		channel += n
	}
	return 0
}

// pack appends the numbers of a layer.
func (p *networkProgram) pack(s *networkStep) {
	l := &s.layer
	if l.Kind == network.Pool {
		return
	}
	outputs := 4 * s.out
	if s.kernel != "" {
		outputs = 8 * s.columns * s.parts
	}
	begin := func() int {
		for len(p.numbers)%16 != 0 {
			p.numbers = append(p.numbers, 0)
		}
		return len(p.numbers)
	}
	s.weights = begin()
	if s.kernel != "" {
		p.packMatrices(s)
	} else {
		p.packGroups(s)
	}
	s.bias = begin()
	for o := range outputs {
		v := int32(0)
		if o < l.Out {
			// The rounding term is added once here.
			v = l.Bias[o] + int32(1)<<l.Shift[o]>>1
		}
		p.numbers = binary.LittleEndian.AppendUint32(p.numbers, uint32(v))
	}
	s.shift = begin()
	for o := range outputs {
		v := uint8(0)
		if o < l.Out {
			v = l.Shift[o]
		}
		p.numbers = binary.LittleEndian.AppendUint32(p.numbers, uint32(v))
	}
}

// packGroups places the weights of four outputs and four inputs next to each other, as networkLayer reads them.
func (p *networkProgram) packGroups(s *networkStep) {
	taps := s.layer.Kind.Side() * s.layer.Kind.Side()
	for group := range s.out {
		for tap := range taps {
			for g := range s.groups {
				for o := range 4 {
					for i := range 4 {
						p.numbers = append(p.numbers, byte(p.weight(s, 4*group+o, 4*g+i, tap)))
					}
				}
			}
		}
	}
}

// packMatrices arranges the weights in the order in which lanes hold them; see multiply in network.cu.
func (p *networkProgram) packMatrices(s *networkStep) {
	steps := (s.slot + 7) / 8
	for part := range s.parts {
		for step := range steps {
			for n := range s.columns {
				for lane := range 32 {
					output := 8*(part*s.columns+n) + lane/4
					for half := range 2 {
						slot := 8*step + 4*half + lane%4
						tap, g := slot/s.groups, slot%s.groups
						for i := range 4 {
							p.numbers = append(p.numbers, byte(p.weight(s, output, 4*g+i, tap)))
						}
					}
				}
			}
		}
	}
}

// networkRun runs the network on a strip of w × h pixels and writes rows from…to of its result.
type networkRun struct {
	q       *queue
	p       *networkProgram
	numbers buffer
	w, h    int
	// logits get the logits plus offset, kinds the kinds; the kernels skip planes without memory.
	logits, kindsOut *plane
	offset           int
	from, to         int
	// keep: the activations of the last hidden layer are requested instead of the logits.
	keep bool
	// values are the results of the layers, with the input last, done the number of their rows that have been computed;
	// free is memory that is no longer needed.
	values []activations
	done   []int
	free   []buffer
}

// begin prepares for a strip of h rows.
func (r *networkRun) begin(h int, logits, kinds *plane) {
	n := len(r.p.steps)
	r.h, r.logits, r.kindsOut, r.from, r.to = h, logits, kinds, 0, h
	r.values, r.done = make([]activations, n+1), make([]int, n+1)
}

// activations are in memory, groups words a pixel.
type activations struct {
	memory       buffer
	groups, w, h int
}

// cellsOf returns the number of cells along a side.
func cellsOf(n, resolution int) int { return (n + resolution - 1) / resolution }

// alloc allocates memory for activations.
func (r *networkRun) alloc(groups, resolution int) (activations, error) {
	a := activations{groups: groups, w: cellsOf(r.w, resolution), h: cellsOf(r.h, resolution)}
	bytes := 4 * int64(groups) * int64(a.w) * int64(a.h)
	i := slices.IndexFunc(r.free, func(m buffer) bool { return m.bytes >= bytes && m.bytes < 2*bytes })
	if i >= 0 {
		a.memory = r.free[i]
		r.free = slices.Delete(r.free, i, i+1)
		return a, nil
	}
	var err error
	a.memory, err = r.q.bytes(bytes)
	return a, err
}

// value returns the result of a layer, or the input.
func (r *networkRun) value(layer int) activations {
	if layer == network.Input {
		return r.values[len(r.p.steps)]
	}
	return r.values[layer]
}

// advance queues the work on all rows of all layers that depend only on the first rows of the picture, of which ready
// are there. Memory is reused by later layers once the last one that reads it is complete.
func (r *networkRun) advance(in [3]*plane, ready int) (err error) {
	n := len(r.p.steps)
	whole := ready == r.h
	limit := r.h
	if !whole {
		// Eight rows of cells below belong to a pixel's surroundings.
		limit = max(r.done[n], 2*(ready/2-8))
	}
	if limit > r.done[n] {
		if r.values[n].memory.bytes == 0 {
			if r.values[n], err = r.alloc(groupsOf(network.Inputs), 1); err != nil {
				return err
			}
		}
		// inputThreads less those at the sides, and inputRows of network.cu; each takes cells of two pixels.
		const threads, columns, rows = 128, 2 * (128 - 16), 32
		first, last := r.done[n]/2, (limit+1)/2
		grid := dim{(r.w + columns - 1) / columns, (last - first + rows - 1) / rows}
		if err := r.q.Launch("networkInput", grid, dim{x: threads}, r.values[n].memory, in[0], in[1], in[2], r.w, r.h,
			first, last); err != nil {
			return err
		}
		r.done[n] = limit
	}
	for i := range r.p.steps {
		first, last := r.done[i], r.limit(i)
		if i == n-1 || r.p.ends(i) && !r.keep {
			first, last = max(first, r.from), min(last, r.to)
		}
		if last > first {
			if err := r.layer(i, first, last); err != nil {
				return err
			}
			r.done[i] = last
		}
		for j, v := range r.values {
			lastUse := r.p.inputLast
			if j < n {
				lastUse = r.p.steps[j].last
			}
			if whole && lastUse == i && v.memory.bytes != 0 {
				r.free = append(r.free, v.memory)
			}
		}
	}
	return nil
}

// limit returns how many rows of a layer can be computed from what there is of its sources.
func (r *networkRun) limit(i int) int {
	l := &r.p.steps[i].layer
	rows := cellsOf(r.h, l.Resolution)
	for _, s := range l.From {
		have, resolution := r.done[len(r.p.steps)], 1
		if s != network.Input {
			have, resolution = r.done[s], r.p.steps[s].layer.Resolution
		}
		switch {
		case have == cellsOf(r.h, resolution):
		case l.Kind == network.Pool:
			rows = min(rows, have/2)
		default:
			rows = min(rows, have*resolution/l.Resolution-l.Dilation*(l.Kind.Side()/2))
		}
	}
	return max(rows, r.done[i])
}

// layer queues rows first…last−1 of a layer, possibly together with those of the one after it.
func (r *networkRun) layer(i, first, last int) error {
	s := &r.p.steps[i]
	if s.follows {
		return nil
	}
	end := i == len(r.p.steps)-1
	if end && r.keep {
		return nil
	}
	// A result that only the last layer reads need not be stored.
	if out := &r.values[i]; !end && (r.keep || !r.p.ends(i)) && out.memory.bytes == 0 {
		var err error
		if *out, err = r.alloc(s.out, s.layer.Resolution); err != nil {
			return err
		}
	}
	const threads = 256
	out, rows := r.values[i], last-first
	switch {
	case s.layer.Kind == network.Pool:
		from := r.value(s.layer.From[0])
		grid := dim{(out.w*s.out/4 + threads - 1) / threads, rows}
		return r.q.Launch("networkPool", grid, dim{x: threads}, out.memory, from.memory, s.out/4, from.w, from.h, first)
	case s.layer.Kind == network.Conv3 && s.kernel != "":
		return r.convolve(i, first, last)
	}
	sources, err := r.sources(s)
	if err != nil {
		return err
	}
	if s.kernel != "" {
		matrices, warps := (out.w+15)/16*rows, s.shape.warps
		blocks := min((matrices*s.parts+warps-1)/warps, blocksOf(r.q, s.shape.blocks))
		return r.q.Launch(s.kernel, dim{x: blocks}, dim{x: 32 * warps}, out.memory, s.out, sources, len(s.layer.From),
			r.at(s.weights), r.at(s.bias), r.at(s.shift), s.parts, out.w, first, last)
	}
	side, dilation := s.layer.Kind.Side(), s.layer.Dilation
	if end {
		return r.q.Pixels("networkLogits", r.w, rows, r.logits, r.kindsOut, r.offset, sources, len(s.layer.From),
			r.at(s.weights), r.at(s.bias), r.at(s.shift), side, dilation, s.groups, r.h, first)
	}
	grid := dim{(out.w*s.out + threads - 1) / threads, rows}
	return r.q.Launch("networkLayer", grid, dim{x: threads}, out.memory, sources, len(s.layer.From), out.w, out.h,
		r.at(s.weights), r.at(s.bias), r.at(s.shift), side, dilation, s.groups, s.out, first)
}

// ends reports whether a layer's kernel also computes the last layer, which alone reads it.
func (p *networkProgram) ends(i int) bool {
	return strings.HasPrefix(p.steps[i].kernel, networkEnd) && i == len(p.steps)-2
}

// convolve queues rows of a convolution of 3 × 3 on tensor cores, and those of the last layer with it where that
// follows.
func (r *networkRun) convolve(i, first, last int) error {
	s, from, out := &r.p.steps[i], r.value(r.p.steps[i].layer.From[0]), r.values[i]
	shape := s.shape
	across := (from.w + tileColumns - 1) / tileColumns
	blocks := blocksOf(r.q, shape.blocks)
	tiles := func() int { return across * ((last - first + shape.rows - 1) / shape.rows) }
	for shape.rows > 4 && tiles() < blocks/2 {
		shape.rows /= 2
	}
	grid, block, memory := dim{x: min(tiles(), blocks)}, dim{x: 32 * shape.warps}, shape.shared(s)
	args := []any{out.memory, s.out, from.memory, from.w, from.h, r.at(s.weights), r.at(s.bias), r.at(s.shift),
		s.layer.Dilation, shape.rows, first, last}
	if !r.p.ends(i) {
		return r.q.LaunchShared(s.kernel, grid, block, memory, append(args, s.parts)...)
	}
	end := &r.p.steps[i+1]
	return r.q.LaunchShared(s.kernel, grid, block, memory, append(args, r.logits, r.kindsOut, r.offset,
		r.at(end.weights), r.at(end.bias), r.at(end.shift))...)
}

// tileColumns is that of network.cu.
const tileColumns = 32

// shape describes how a layer is divided: warps per block, rows of a convolution's tile, and blocks per multiprocessor.
type shape struct{ warps, rows, blocks int }

// shared is the memory of a block of a convolution in bytes.
func (v shape) shared(s *networkStep) int {
	words := s.groups
	if words%8 == 0 {
		// The pixels of a matrix then lie in different banks.
		words += 4
	}
	columns, rows := tileColumns+2*s.layer.Dilation, v.rows+2*s.layer.Dilation
	// A warp stages one matrix, or two if they are narrow.
	pixels := 16
	if s.columns == 2 {
		pixels = 32
	}
	return 4 * (v.warps*pixels*2*s.columns + columns*rows*words)
}

// convolveBlocks and mixBlocks are how many blocks of a kernel a multiprocessor has registers for, by groups, or pairs
// of quads, and columns. They are never written.
var (
	convolveBlocks = [4][3]int{{6, 5, 4}, {4, 4, 3}, {4, 3}, {4, 2}}
	mixBlocks      = [4][3]int{{4, 3, 3}, {3, 2, 2}, {2, 2, 2}, {2, 1, 1}}
)

// convolutionShape returns a shape for which there is enough memory, if one exists. Weights take so many registers that
// a multiprocessor runs few blocks; small blocks divide the work more evenly.
func convolutionShape(s *networkStep) shape {
	v := shape{warps: 4, rows: 16, blocks: convolveBlocks[s.groups/4-1][s.columns-2]}
	v.warps = max(v.warps/s.parts, 1) * s.parts
	for v.rows > 1 && v.shared(s) > MaxShared {
		v.rows /= 2
	}
	return v
}

// blocksOf returns the number of blocks that run at a time if each multiprocessor runs the given number.
func blocksOf(q *queue, each int) int { return each * q.d.info.Multiprocessors }

// sources uploads the addresses of the inputs of a layer.
func (r *networkRun) sources(s *networkStep) (buffer, error) {
	var list []byte
	for _, from := range s.layer.From {
		v, resolution := r.value(from), 1
		if from != network.Input {
			resolution = r.p.steps[from].layer.Resolution
		}
		list = binary.LittleEndian.AppendUint64(list, uint64(v.memory.ptr))
		for _, n := range []int{v.groups, bits.TrailingZeros(uint(resolution / s.layer.Resolution)), v.w, 0} {
			list = binary.LittleEndian.AppendUint32(list, uint32(n))
		}
	}
	return r.q.constants(list)
}

// at returns the part of the numbers from an offset on.
func (r *networkRun) at(place int) buffer { return buffer{r.numbers.ptr + cuPtr(int64(place)), 0} }
