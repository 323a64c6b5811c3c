package jpeg

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	mathbits "math/bits"
	"slices"

	"blik/app/imagefile/container"
)

// block holds the quantised coefficients of 8 × 8 samples in zigzag order.
type block [64]int16

// zigzag maps the order in the file to rows and columns (figure A.6): 8·v + u.
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48,
	41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
	30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// scan is one pass over some components (B.2.3).
type scan struct {
	components []scanComponent
	// first and last bound the band of coefficients. high and low are the bit positions of successive approximation:
	// high is 0 or that of the previous scan, low the number of bits still left out.
	first, last int
	high, low   uint
	// interval is the number of MCUs between restarts, or 0.
	interval int
}

type scanComponent struct {
	index  int
	dc, ac uint8
}

// piece is a part of the file: bytes that stay, or a scan whose data is re-encoded.
type piece struct {
	data []byte
	scan *scan
}

// picture is a parsed JPEG file.
type picture struct {
	f      *File
	data   []byte
	planes []plane
	// blocks are those of each component, in rows of planes' stride.
	blocks [][]block
	// quant are the quantisation tables of the components, in zigzag order; nil before their first scan.
	quant []*[64]uint16
	// sent is one more than the number of low bits of each coefficient that progressive scans have left out so far; 0
	// before the first scan.
	sent   [4][64]uint
	pieces []piece
	// found are all segments, and tables the Huffman tables, in the order of the file.
	found  []foundSegment
	tables []huffmanTable
	// loose are the bits that fill the last bytes of the compressed data, with their number, where they are neither all
	// 0 nor all 1; filled is the number of FF bytes before restart markers.
	loose  []byte
	filled int
}

// foundSegment is a segment with the bytes around it: from is the end of what precedes it, begin the offset of its
// marker, end that of the compressed data that follow it, or of the segment itself.
type foundSegment struct {
	segment
	from, begin, end int
}

// huffmanTable is a table as DHT stores it.
type huffmanTable struct {
	data  []byte
	table *decodeTable
}

// parse parses the whole file and decodes all coefficients.
func (f *File) parse(ctx context.Context, data []byte) (*picture, error) {
	p := &picture{f: f, data: data, planes: f.planes(), quant: make([]*[64]uint16, len(f.components))}
	for _, g := range p.planes {
		p.blocks = append(p.blocks, make([]block, g.stride*g.rows))
	}
	var (
		tables   [2][4]*decodeTable
		quant    [4]*[64]uint16
		interval int
		kept     = 2 // what lies before, but for SOI, is in pieces
		scans    = 0
	)
	for at := 2; ; {
		begin, s, err := nextSegment(data, at)
		if err != nil {
			return nil, err
		}
		p.found = append(p.found, foundSegment{s, at, begin, int(s.end())})
		if s.marker == markerEOI {
			p.pieces = append(p.pieces, piece{data: data[kept:]})
			return p, nil
		}
		// FF bytes may precede a marker as padding.
		gap := begin
		for gap > at && data[gap-1] == 0xff {
			gap--
		}
		body := data[s.at:s.end()]
		at = int(s.end())
		switch s.marker {
		case markerDHT:
			err = p.readHuffmanTables(&tables, body)
			// Fill bytes before the marker are removed with it, or they would make the following byte a marker.
			p.pieces = append(p.pieces, piece{data: data[kept:gap]})
			kept = at
		case markerDQT:
			err = readQuantisation(&quant, body)
		case markerDRI:
			if len(body) != 2 {
				return nil, damaged(s.marker, "has a wrong length")
			}
			interval = int(binary.BigEndian.Uint16(body))
		case markerSOS:
			if scans++; scans > maxScans {
				return nil, container.Damaged("the JPEG has more than %d scans", maxScans)
			}
			var one *scan
			if one, err = f.readScan(body); err != nil {
				break
			}
			one.interval = interval
			if err = p.follow(one); err != nil {
				break
			}
			for _, c := range one.components {
				if p.quant[c.index] == nil {
					p.quant[c.index] = quant[f.components[c.index].quant]
				}
			}
			// The DHT of the new codes goes before SOS.
			p.pieces = append(p.pieces, piece{data: data[kept:begin]}, piece{data: data[begin:at], scan: one})
			d := scanDecoder{bitReader: bitReader{data: data, at: at}, tables: &tables, picture: p, scan: one}
			if err = d.decode(ctx); err == errCorrupt {
				err = container.Damaged("the compressed pixels are damaged")
			}
			at = d.at
			kept = at
			p.found[len(p.found)-1].end = at
		}
		if err != nil {
			return nil, err
		}
	}
}

// follow rejects progressive scans that do not continue the previous ones (G.1.1.1): a re-encoded scan must refine
// exactly the state that a decoder has at that point.
func (p *picture) follow(s *scan) error {
	if p.f.frame != markerSOF2 {
		return nil
	}
	for _, c := range s.components {
		for k := s.first; k <= s.last; k++ {
			sent := &p.sent[c.index][k]
			if s.high == 0 && *sent > 0 || s.high > 0 && *sent != s.high+1 {
				return container.Damaged("the progressive scans contradict each other")
			}
			*sent = s.low + 1
		}
	}
	return nil
}

// nextSegment is segmentAt in memory.
func nextSegment(data []byte, at int) (begin int, s segment, err error) {
	from, s, err := segmentAt(bytes.NewReader(data), int64(len(data)), int64(at))
	return int(from), s, err
}

// readHuffmanTables reads DHT (B.2.4.2).
func (p *picture) readHuffmanTables(tables *[2][4]*decodeTable, body []byte) error {
	wrong := damaged(markerDHT, "is inconsistent")
	for len(body) > 0 {
		if len(body) < 17 || body[0]>>4 > 1 || body[0]&15 > 3 {
			return wrong
		}
		n := 0
		for _, c := range body[1:17] {
			n += int(c)
		}
		if n > 256 || len(body) < 17+n {
			return wrong
		}
		t, err := newDecodeTable(body[1:17], body[17:17+n])
		if err != nil {
			return wrong
		}
		tables[body[0]>>4][body[0]&15] = t
		p.tables = append(p.tables, huffmanTable{body[:17+n], t})
		body = body[17+n:]
	}
	return nil
}

// readQuantisation reads DQT (B.2.4.1).
func readQuantisation(quant *[4]*[64]uint16, body []byte) error {
	wrong := damaged(markerDQT, "is inconsistent")
	for len(body) > 0 {
		precise, id := body[0]>>4, body[0]&15
		n := 64 * (1 + int(precise))
		if precise > 1 || id > 3 || len(body) < 1+n {
			return wrong
		}
		t := new([64]uint16)
		for k := range t {
			if precise == 1 {
				t[k] = binary.BigEndian.Uint16(body[1+2*k:])
			} else {
				t[k] = uint16(body[1+k])
			}
			if t[k] == 0 {
				return wrong
			}
		}
		quant[id] = t
		body = body[1+n:]
	}
	return nil
}

// readScan reads the header of a scan.
func (f *File) readScan(body []byte) (*scan, error) {
	wrong := damaged(markerSOS, "is inconsistent")
	if len(body) < 1 || body[0] < 1 || body[0] > 4 || len(body) != 4+2*int(body[0]) {
		return nil, wrong
	}
	s := &scan{last: 63}
	sum := 0
	for c := body[1 : 1+2*body[0]]; len(c) > 0; c = c[2:] {
		found := slices.IndexFunc(f.components, func(known component) bool { return known.id == c[0] })
		twice := slices.ContainsFunc(s.components, func(other scanComponent) bool { return other.index == found })
		if found < 0 || twice || c[1]>>4 > 3 || c[1]&15 > 3 {
			return nil, wrong
		}
		sum += f.components[found].h * f.components[found].v
		s.components = append(s.components, scanComponent{found, c[1] >> 4, c[1] & 15})
	}
	if len(s.components) > 1 && sum > 10 {
		return nil, wrong
	}
	if f.frame == markerSOF2 {
		tail := body[len(body)-3:]
		s.first, s.last, s.high, s.low = int(tail[0]), int(tail[1]), uint(tail[2]>>4), uint(tail[2]&15)
		if s.last > 63 || s.first > s.last || s.first == 0 && s.last > 0 || s.first > 0 && len(s.components) > 1 ||
			s.high > 0 && s.high != s.low+1 || s.low > 13 {
			return nil, wrong
		}
	}
	return s, nil
}

// eachBlock calls do for the blocks of a scan in order (A.2), and restart between the intervals. component is the index
// in scan.components.
func (p *picture) eachBlock(
	ctx context.Context, s *scan, restart func() error, do func(component int, b *block) error,
) error {
	if len(s.components) == 1 {
		// A single component is not interleaved: an MCU is a block, and blocks without pixels are left out.
		i := s.components[0].index
		g, blocks := p.planes[i], p.blocks[i]
		n := 0
		for y := range g.height {
			if err := ctx.Err(); err != nil {
				return err
			}
			for x := range g.width {
				if s.interval > 0 && n > 0 && n%s.interval == 0 {
					if err := restart(); err != nil {
						return err
					}
				}
				n++
				if err := do(0, &blocks[y*g.stride+x]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	maxH, maxV := p.f.sampling()
	across, down := ceilDiv(p.f.width, 8*maxH), ceilDiv(p.f.height, 8*maxV)
	for n := range across * down {
		x, y := n%across, n/across
		if x == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if s.interval > 0 && n > 0 && n%s.interval == 0 {
			if err := restart(); err != nil {
				return err
			}
		}
		for k, c := range s.components {
			h, v := p.f.components[c.index].h, p.f.components[c.index].v
			for j := range h * v {
				b := &p.blocks[c.index][(y*v+j/h)*p.planes[c.index].stride+x*h+j%h]
				if err := do(k, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// blockCoder decodes or encodes a block: all of it, or only the part that a progressive scan covers (G.1.2, G.2).
// component is the index in scan.components.
type blockCoder interface {
	sequential(component int, b *block) error
	firstDC(component int, b *block) error
	refineDC(component int, b *block) error
	firstAC(component int, b *block) error
	refineAC(component int, b *block) error
}

// procedure returns the method of c for a scan.
func (p *picture) procedure(s *scan, c blockCoder) func(component int, b *block) error {
	switch {
	case p.f.frame != markerSOF2:
		return c.sequential
	case s.first == 0 && s.high == 0:
		return c.firstDC
	case s.first == 0:
		return c.refineDC
	case s.high == 0:
		return c.firstAC
	}
	return c.refineAC
}

// scanDecoder decodes the data of one scan.
type scanDecoder struct {
	bitReader
	tables  *[2][4]*decodeTable
	picture *picture
	scan    *scan
	// dc is the last DC value of each component, run the number of further blocks without coefficients.
	dc       [4]int32
	run      int32
	restarts byte
}

// decode decodes the scan and leaves d.at after its data.
func (d *scanDecoder) decode(ctx context.Context) error {
	s := d.scan
	for _, c := range s.components {
		// A DC refinement consists of raw bits.
		if s.first == 0 && s.high == 0 && d.tables[0][c.dc] == nil || s.last > 0 && d.tables[1][c.ac] == nil {
			return errCorrupt
		}
	}
	err := d.picture.eachBlock(ctx, s, d.restart, d.picture.procedure(s, d))
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return err
	}
	d.rewind()
	return nil
}

// rewind moves back over whole bytes that were loaded but not used.
func (d *scanDecoder) rewind() {
	for unused := (d.count - d.missing) / 8; unused > 0; unused-- {
		d.at--
		if d.data[d.at] == 0 && d.data[d.at-1] == 0xff {
			d.at--
		}
	}
	if n := (d.count - d.missing) & 7; n > 0 {
		if v, all := byte(d.acc>>(d.count-n))&(1<<n-1), byte(1)<<n-1; v != 0 && v != all {
			d.picture.loose = append(d.picture.loose, byte(n), v)
		}
	}
	d.align()
}

// restart reads a marker RSTn and resets the state (F.2.1.3.1).
func (d *scanDecoder) restart() error {
	if d.overrun() {
		return errCorrupt
	}
	d.rewind()
	for d.at+1 < len(d.data) && d.data[d.at] == 0xff && d.data[d.at+1] == 0xff {
		d.at++
		d.picture.filled++
	}
	if d.at+1 >= len(d.data) || d.data[d.at] != 0xff || d.data[d.at+1] != markerRST0+d.restarts&7 {
		return errCorrupt
	}
	d.at += 2
	d.restarts++
	d.dc, d.run = [4]int32{}, 0
	return nil
}

// readDC decodes the difference from the previous DC value and returns the new value.
func (d *scanDecoder) readDC(component int) (int32, error) {
	n, err := d.symbol(d.tables[0][d.scan.components[component].dc])
	if err != nil || n > 16 {
		return 0, errCorrupt
	}
	d.dc[component] += d.signed(uint(n))
	v := d.dc[component] << d.scan.low
	if v < math.MinInt16 || v > math.MaxInt16 || d.overrun() {
		return 0, errCorrupt
	}
	return v, nil
}

// sequential decodes all coefficients of a block (F.2.2).
func (d *scanDecoder) sequential(component int, b *block) error {
	v, err := d.readDC(component)
	if err != nil {
		return err
	}
	*b = block{int16(v)}
	table := d.tables[1][d.scan.components[component].ac]
	for k := 1; k < 64; k++ {
		s, err := d.symbol(table)
		if err != nil {
			return err
		}
		run, n := int(s>>4), uint(s&15)
		if n == 0 {
			if run != 15 {
				break
			}
			k += 15
			continue
		}
		if k += run; k > 63 {
			return errCorrupt
		}
		b[k] = int16(d.signed(n))
	}
	return d.check()
}

func (d *scanDecoder) firstDC(component int, b *block) error {
	v, err := d.readDC(component)
	b[0] = int16(v)
	return err
}

func (d *scanDecoder) refineDC(_ int, b *block) error {
	if d.bits(1) == 1 {
		b[0] |= 1 << d.scan.low
	}
	return d.check()
}

func (d *scanDecoder) firstAC(_ int, b *block) error {
	if d.run > 0 {
		d.run--
		return nil
	}
	table := d.tables[1][d.scan.components[0].ac]
	for k := d.scan.first; k <= d.scan.last; k++ {
		s, err := d.symbol(table)
		if err != nil {
			return err
		}
		run, n := int(s>>4), uint(s&15)
		if n == 0 {
			if run != 15 {
				d.run = 1<<run - 1 + d.bits(uint(run))
				break
			}
			k += 15
			continue
		}
		if k += run; k > d.scan.last {
			return errCorrupt
		}
		v := d.signed(n) << d.scan.low
		if v < math.MinInt16 || v > math.MaxInt16 {
			return errCorrupt
		}
		b[k] = int16(v)
	}
	return d.check()
}

func (d *scanDecoder) refineAC(_ int, b *block) error {
	k := d.scan.first
	bit := int16(1) << d.scan.low
	// refine reads the next bit of each non-zero coefficient while skipping the given number of zeros, and stops at the
	// zero after them.
	refine := func(zeros int) {
		for ; k <= d.scan.last; k++ {
			switch {
			case b[k] == 0:
				if zeros--; zeros < 0 {
					return
				}
			case d.bits(1) == 0:
			case b[k] > 0:
				b[k] |= bit
			default:
				b[k] = -(-b[k] | bit)
			}
		}
	}
	if d.run == 0 {
		table := d.tables[1][d.scan.components[0].ac]
		for k <= d.scan.last {
			s, err := d.symbol(table)
			if err != nil {
				return err
			}
			run, value := int(s>>4), int16(0)
			switch s & 15 {
			case 0:
				if run != 15 {
					d.run = 1<<run + d.bits(uint(run))
				}
			case 1:
				value = bit
				if d.bits(1) == 0 {
					value = -bit
				}
			default:
				return errCorrupt
			}
			if d.run > 0 {
				break
			}
			refine(run)
			if value != 0 {
				if k > d.scan.last {
					return errCorrupt
				}
				b[k] = value
			}
			k++
		}
	}
	if d.run > 0 {
		refine(64)
		d.run--
	}
	return d.check()
}

// scanEncoder encodes the data of one scan in its original form: the same order, bands, bits and restarts.
type scanEncoder struct {
	bitWriter
	tables [2][4]encodeTable
	scan   *scan
	dc     [4]int32
	// run is the number of blocks without new coefficients before this one, pending the bits that refine theirs.
	run      int
	pending  []byte
	restarts byte
	fresh    []byte
}

// encode returns DHT, if the scan has codes, and the data.
func (p *picture) encode(ctx context.Context, s *scan) (tables, data []byte, err error) {
	e := &scanEncoder{scan: s}
	for _, e.counting = range [...]bool{true, false} {
		e.dc, e.run, e.restarts = [4]int32{}, 0, 0
		if err := p.eachBlock(ctx, s, e.restart, p.procedure(s, e)); err != nil {
			return nil, nil, err
		}
		e.flushRun()
		e.align()
		if e.counting {
			tables = e.buildTables()
		}
	}
	return tables, e.out, nil
}

// buildTables constructs the codes from the symbol counts and returns them as DHT; empty if there are none.
func (e *scanEncoder) buildTables() []byte {
	var body []byte
	for class := range e.tables {
		for id := range e.tables[class] {
			t := &e.tables[class][id]
			if t.frequency == [256]int64{} {
				continue
			}
			t.build()
			body = append(append(append(body, byte(class<<4|id)), t.counts[:]...), t.symbols...)
		}
	}
	if body == nil {
		return nil
	}
	return append([]byte{0xff, markerDHT, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
}

func (e *scanEncoder) restart() error {
	e.flushRun()
	e.align()
	if !e.counting {
		e.out = append(e.out, 0xff, markerRST0+e.restarts&7)
	}
	e.restarts++
	e.dc = [4]int32{}
	return nil
}

// number writes a number after the symbol of its length in bits (F.1.2.1).
func (e *scanEncoder) number(v int32, n uint) {
	if v < 0 {
		v--
	}
	e.bits(uint32(v), n)
}

// bitLength returns the number of bits of the absolute value of v.
func bitLength(v int32) uint { return uint(mathbits.Len32(uint32(max(v, -v)))) }

func (e *scanEncoder) writeDC(component int, v int32) {
	difference := v - e.dc[component]
	e.dc[component] = v
	n := bitLength(difference)
	e.symbol(&e.tables[0][e.scan.components[component].dc], uint8(n))
	e.number(difference, n)
}

func (e *scanEncoder) sequential(component int, b *block) error {
	e.writeDC(component, int32(b[0]))
	table := &e.tables[1][e.scan.components[component].ac]
	run := 0
	for _, c := range b[1:] {
		if c == 0 {
			run++
			continue
		}
		for ; run > 15; run -= 16 {
			e.symbol(table, 0xf0)
		}
		n := bitLength(int32(c))
		e.symbol(table, uint8(run<<4)|uint8(n))
		e.number(int32(c), n)
		run = 0
	}
	if run > 0 {
		e.symbol(table, 0)
	}
	return nil
}

func (e *scanEncoder) firstDC(component int, b *block) error {
	e.writeDC(component, int32(b[0])>>e.scan.low)
	return nil
}

func (e *scanEncoder) refineDC(_ int, b *block) error {
	e.bits(uint32(b[0])>>e.scan.low, 1)
	return nil
}

// shifted drops the bits that a scan leaves out from the absolute value of c (G.1.2.1).
func shifted(c int16, low uint) int32 {
	if c < 0 {
		return -(-int32(c) >> low)
	}
	return int32(c) >> low
}

func (e *scanEncoder) firstAC(_ int, b *block) error {
	table := &e.tables[1][e.scan.components[0].ac]
	run := 0
	for _, c := range b[e.scan.first : e.scan.last+1] {
		v := shifted(c, e.scan.low)
		if v == 0 {
			run++
			continue
		}
		e.flushRun()
		for ; run > 15; run -= 16 {
			e.symbol(table, 0xf0)
		}
		n := bitLength(v)
		e.symbol(table, uint8(run<<4)|uint8(n))
		e.number(v, n)
		run = 0
	}
	if run > 0 {
		e.endBlock()
	}
	return nil
}

// endBlock adds a block to the run of blocks without new coefficients.
func (e *scanEncoder) endBlock() {
	if e.run++; e.run == 0x7fff {
		e.flushRun()
	}
}

// flushRun writes the run of blocks and the bits that refine them (figure G.8, and G.1.2.3).
func (e *scanEncoder) flushRun() {
	if e.run > 0 {
		n := uint(mathbits.Len(uint(e.run))) - 1
		e.symbol(&e.tables[1][e.scan.components[0].ac], uint8(n<<4))
		e.bits(uint32(e.run), n)
		e.run = 0
	}
	e.flushBits(&e.pending)
}

func (e *scanEncoder) flushBits(list *[]byte) {
	for _, b := range *list {
		e.bits(uint32(b), 1)
	}
	*list = (*list)[:0]
}

func (e *scanEncoder) refineAC(_ int, b *block) error {
	table := &e.tables[1][e.scan.components[0].ac]
	// After the last coefficient that becomes non-zero here, zeros need no codes of their own.
	end := e.scan.first - 1
	for k := e.scan.first; k <= e.scan.last; k++ {
		if v := shifted(b[k], e.scan.low); v == 1 || v == -1 {
			end = k
		}
	}
	run := 0
	for k := e.scan.first; k <= e.scan.last; k++ {
		v := shifted(b[k], e.scan.low)
		if v == 0 {
			run++
			continue
		}
		for ; run > 15 && k <= end; run -= 16 {
			e.flushRun()
			e.symbol(table, 0xf0)
			e.flushBits(&e.fresh)
		}
		if v != 1 && v != -1 {
			e.fresh = append(e.fresh, byte(max(v, -v)&1))
			continue
		}
		e.flushRun()
		e.symbol(table, uint8(run<<4)|1)
		e.bits(uint32(v+1)/2, 1)
		e.flushBits(&e.fresh)
		run = 0
	}
	if run > 0 || len(e.fresh) > 0 {
		e.pending = append(e.pending, e.fresh...)
		e.fresh = e.fresh[:0]
		e.endBlock()
	}
	return nil
}
