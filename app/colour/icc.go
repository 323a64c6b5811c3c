package colour

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"

	"blik/internal/message"
	"blik/processing"
)

// ErrProfile is what FromICC wraps for a profile that is damaged or Unsuitable.
var ErrProfile = errors.New("ICC profile")

// Unsuitable is the error of FromICC for a profile that is not damaged, but of a kind that it does not read. Reason is
// a clause that can follow a colon.
type Unsuitable struct{ Reason message.Message }

func (u *Unsuitable) Error() string { return fmt.Sprintf("%v: %s", ErrProfile, u.Reason.String()) }

// Unwrap returns ErrProfile.
func (u *Unsuitable) Unwrap() error { return ErrProfile }

func unsuitable(format message.Text, a ...any) error { return &Unsuitable{message.Of(format, a...)} }

func bad(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrProfile, fmt.Sprintf(format, a...))
}

// errKind: an unsupported type of table in an otherwise valid profile.
var errKind = errors.New("unsupported kind of table")

// icc is a profile's tag table.
type icc struct {
	tags map[string][]byte
	// lab: the connection space is CIE L*a*b*; otherwise XYZ.
	lab bool
}

const (
	headerSize = 128
	// maxTags is far more than real profiles have.
	maxTags = 1000
)

// FromICC reads an ICC profile of version 2 or 4 for grey, RGB or CMYK pictures: curves and matrix, or tables (lut8,
// lut16, lutAToB). The error for another one wraps ErrProfile; memory and time are proportional to the length.
func FromICC(profile []byte) (*Profile, error) {
	f, space, err := open(profile)
	if err != nil {
		return nil, err
	}
	var p *Profile
	switch space {
	case "GRAY":
		p, err = f.grey()
	case "RGB ":
		p, err = f.rgb()
	case "CMYK":
		p, err = f.cmyk()
	default:
		return nil, otherSpace(space)
	}
	if err != nil {
		return nil, err
	}
	p.Name = f.description()
	return standard(p), nil
}

// otherSpace returns the error for a colour space that FromICC does not read (ICC.1:2022, table 19).
func otherSpace(space string) error {
	for name := range strings.FieldsSeq("XYZ Lab Luv YCbr Yxy HSV HLS CMY") {
		if fmt.Sprintf("%-4s", name) == space {
			return unsuitable("it is for %s, not for grey, RGB or CMYK", name)
		}
	}
	if strings.HasSuffix(space, "CLR") && strings.Contains("23456789ABCDEF", space[:1]) {
		return unsuitable("it is for %s, not for grey, RGB or CMYK", space)
	}
	return bad("a colour space of %q: grey, RGB or CMYK expected", space)
}

// open checks the header and finds the tags.
func open(data []byte) (*icc, string, error) {
	if len(data) < headerSize+4 {
		return nil, "", bad("%d bytes are less than its header takes", len(data))
	}
	if string(data[36:40]) != "acsp" {
		return nil, "", bad("it does not have the signature of one")
	}
	if v := data[8]; v != 2 && v != 4 {
		return nil, "", unsuitable("it has version %d, and only versions 2 and 4 can be read", v)
	}
	if class := string(data[12:16]); class == "link" || class == "abst" || class == "nmcl" {
		return nil, "", unsuitable("it does not describe the colours of pictures (class %s)", class)
	}
	f := &icc{tags: map[string][]byte{}}
	switch pcs := string(data[20:24]); pcs {
	case "XYZ ":
	case "Lab ":
		f.lab = true
	default:
		return nil, "", bad("a connection space of %q: XYZ or Lab expected", pcs)
	}
	n := binary.BigEndian.Uint32(data[headerSize:])
	if n > maxTags || uint64(n)*12 > uint64(len(data)-headerSize-4) {
		return nil, "", bad("%d tags do not fit into its %d bytes", n, len(data))
	}
	for i := range int(n) {
		entry := data[headerSize+4+12*i:][:12]
		offset, size := uint64(binary.BigEndian.Uint32(entry[4:])), uint64(binary.BigEndian.Uint32(entry[8:]))
		if offset+size > uint64(len(data)) {
			return nil, "", bad("tag %q reaches past its end", entry[:4])
		}
		f.tags[string(entry[:4])] = data[offset:][:size]
	}
	return f, string(data[16:20]), nil
}

func (f *icc) grey() (*Profile, error) {
	tag, ok := f.tags["kTRC"]
	if !ok {
		t, err := f.tables(1)
		if err != nil {
			return nil, err
		}
		if t == nil {
			return nil, bad("it has neither a grey curve nor a table")
		}
		return plain(1, func(x float64) float64 { return unit(t.xyz([4]float64{x})[1]) }), nil
	}
	c, _, err := readCurve(tag)
	if err != nil {
		return nil, err
	}
	if f.lab {
		lightness := c
		c = func(x float64) float64 { return fromLab([3]float64{100 * lightness(x)})[1] }
	}
	return plain(1, c), nil
}

func (f *icc) rgb() (*Profile, error) {
	t, tablesErr := f.tables(3)
	if t != nil {
		return &Profile{Channels: 3, Exact: true, tables: t}, nil
	}
	p := &Profile{Channels: 3, Exact: true}
	var columns [3][3]float64
	for i, c := range []string{"r", "g", "b"} {
		tag, ok := f.tags[c+"TRC"]
		if !ok {
			if tablesErr != nil {
				return nil, tablesErr
			}
			return nil, bad("it has neither a table nor the curve %sTRC", c)
		}
		var err error
		if p.linear[i], _, err = readCurve(tag); err != nil {
			return nil, err
		}
		if columns[i], err = readXYZ(f.tags[c+"XYZ"]); err != nil {
			return nil, err
		}
	}
	var colourants matrix
	for i := range colourants {
		for k := range columns {
			colourants[i][k] = columns[k][i]
		}
	}
	p.uniform = bytes.Equal(f.tags["rTRC"], f.tags["gTRC"]) && bytes.Equal(f.tags["rTRC"], f.tags["bTRC"])
	p.toScreen = neutralRows(toScreen().times(colourants))
	if tablesErr != nil {
		p.Exact, p.Reason = false, unread()
	}
	return p, nil
}

// unread is the reason why a profile's tables were not used.
func unread() message.Message {
	return message.Of("the tables of its profile cannot be read")
}

// neutralRows normalises the rows of a matrix to a sum of one if they differ from it only by the rounding of the
// colourants: equal samples are then shown without a tint.
func neutralRows(m matrix) matrix {
	const rounding = 0.004
	for i, row := range m {
		sum := row[0] + row[1] + row[2]
		if math.Abs(sum-1) > rounding {
			continue
		}
		for k := range row {
			m[i][k] /= sum
		}
	}
	return m
}

func (f *icc) cmyk() (*Profile, error) {
	t, err := f.tables(4)
	switch {
	case t != nil && !t.lab:
		p := &Profile{Channels: 4, tables: t}
		p.Reason = message.Of("the tables of its profile are approximated")
		return p, nil
	case t != nil:
		return &Profile{Channels: 4, Exact: true, tables: t}, nil
	case err != nil && !errors.Is(err, errKind):
		return nil, err
	}
	p := plain(4, processing.TransferSRGB.Linear)
	p.Exact, p.Reason = false, unread()
	return p, nil
}

// tables reads the table from device to connection space: that of the relative colorimetric intent, otherwise the first
// one. Without a table both results are nil.
func (f *icc) tables(channels int) (*lut, error) {
	for _, name := range []string{"A2B1", "A2B0"} {
		if tag, ok := f.tags[name]; ok {
			return readTables(tag, channels, f.lab)
		}
	}
	return nil, nil
}

// description returns the text of the profile's description tag, if it can be read.
func (f *icc) description() string {
	tag := f.tags["desc"]
	if len(tag) < 12 {
		return ""
	}
	n := uint64(binary.BigEndian.Uint32(tag[8:]))
	switch string(tag[:4]) {
	case "desc":
		text := tag[12:]
		if n > uint64(len(text)) {
			return ""
		}
		return printable(string(text[:n]))
	case "mluc":
		return multilingual(tag, n)
	}
	return ""
}

// multilingual returns the English text among n records, otherwise the first one (ICC.1:2022, 10.15).
func multilingual(tag []byte, n uint64) string {
	const record = 12
	if len(tag) < 16 || n > uint64(len(tag)-16)/record {
		return ""
	}
	best := ""
	for i := range int(n) {
		r := tag[16+record*i:][:record]
		size, offset := uint64(binary.BigEndian.Uint32(r[4:])), uint64(binary.BigEndian.Uint32(r[8:]))
		if offset+size > uint64(len(tag)) {
			continue
		}
		units := make([]uint16, size/2)
		for k := range units {
			units[k] = binary.BigEndian.Uint16(tag[offset+2*uint64(k):])
		}
		text := printable(string(utf16.Decode(units)))
		if string(r[:2]) == "en" {
			return text
		}
		if best == "" {
			best = text
		}
	}
	return best
}

// printable truncates a text at its first zero byte and drops control characters and invalid UTF-8.
func printable(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.TrimSpace(s)
}

// fixed returns the s15Fixed16Number at the beginning of b.
func fixed(b []byte) float64 { return float64(int32(binary.BigEndian.Uint32(b))) / 65536 }

func readXYZ(tag []byte) (v [3]float64, err error) {
	if len(tag) < 20 || string(tag[:4]) != "XYZ " {
		return v, bad("a primary colour is missing or damaged")
	}
	for i := range v {
		v[i] = fixed(tag[8+4*i:])
	}
	return v, nil
}

// readCurve reads a curv or para element and returns its length in bytes.
func readCurve(b []byte) (c curve, size int, err error) {
	if len(b) < 12 {
		return nil, 0, bad("a curve is truncated")
	}
	switch string(b[:4]) {
	case "curv":
		n := uint64(binary.BigEndian.Uint32(b[8:]))
		if 12+2*n > uint64(len(b)) {
			return nil, 0, bad("a curve of %d values is truncated", n)
		}
		size = 12 + 2*int(n)
		switch n {
		case 0:
			return unit, size, nil
		case 1:
			return power(float64(binary.BigEndian.Uint16(b[12:])) / 256), size, nil
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(binary.BigEndian.Uint16(b[12+2*i:])) / 65535
		}
		return table(values), size, nil
	case "para":
		return readParametric(b)
	}
	return nil, 0, bad("a curve of kind %q: curv or para expected", b[:4])
}

// table interpolates linearly between values at equal steps.
func table(values []float64) curve {
	last := len(values) - 1
	return func(x float64) float64 {
		at := unit(x) * float64(last)
		i := min(int(at), last-1)
		return values[i] + (values[i+1]-values[i])*(at-float64(i))
	}
}

// readParametric reads the functions of ICC.1:2022, table 68.
func readParametric(b []byte) (curve, int, error) {
	counts := []int{1, 3, 4, 5, 7}
	kind := int(binary.BigEndian.Uint16(b[8:]))
	if kind >= len(counts) {
		return nil, 0, bad("a parametric curve of kind %d: 0 to 4 expected", kind)
	}
	size := 12 + 4*counts[kind]
	if len(b) < size {
		return nil, 0, bad("a parametric curve is truncated")
	}
	var v [7]float64
	for i := range counts[kind] {
		v[i] = fixed(b[12+4*i:])
	}
	g, a, o, c, d, e, f := v[0], v[1], v[2], v[3], v[4], v[5], v[6]
	switch kind {
	case 0:
		a, c, d = 1, 0, math.Inf(-1)
	case 1, 2:
		if a == 0 {
			return nil, 0, bad("a parametric curve divides by zero")
		}
		// Below −b/a the power term is omitted.
		e, f, c, d = c, c, 0, -o/a
	}
	return func(x float64) float64 {
		x = unit(x)
		if x < d {
			return unit(c*x + f)
		}
		return unit(math.Pow(math.Max(a*x+o, 0), g) + e)
	}, size, nil
}
