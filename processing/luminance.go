package processing

import (
	"math"
	"sort"
	"sync"

	"blik/internal/parallel"
)

// Transfer is the curve that encodes linear light into samples.
type Transfer uint8

// The transfer curves.
const (
	// TransferSRGB is the curve of IEC 61966-2-1.
	TransferSRGB Transfer = iota
	// TransferLinear: samples are proportional to light.
	TransferLinear
	// TransferGamma18 and TransferGamma22 are pure powers, as of ProPhoto and Adobe RGB.
	TransferGamma18
	TransferGamma22
)

// Linear decodes an encoded sample in 0…1 to linear light in 0…1.
func (t Transfer) Linear(x float64) float64 {
	switch t {
	case TransferLinear:
		return x
	case TransferGamma18:
		return math.Pow(x, 1.8)
	case TransferGamma22:
		return math.Pow(x, 2.2)
	default:
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
}

// Encode is the inverse of Linear.
func (t Transfer) Encode(x float64) float64 {
	switch t {
	case TransferLinear:
		return x
	case TransferGamma18:
		return math.Pow(x, 1/1.8)
	case TransferGamma22:
		return math.Pow(x, 1/2.2)
	default:
		if x <= 0.0031308 {
			return x * 12.92
		}
		return float64(1.055*math.Pow(x, 1/2.4)) - 0.055
	}
}

// Luminance weights of linear sRGB (Rec. 709) in 1/65536; they add up to 65536.
const (
	LuminanceRed   = 13933
	LuminanceGreen = 46871
	LuminanceBlue  = 4732
)

// LuminanceTables turn samples into the planes that detection works on, in integers, so that every backend agrees:
//
//	Y = (LuminanceRed·L(r) + LuminanceGreen·L(g) + LuminanceBlue·L(b) + 32768) >> 16   (RGB),   Y = L(g)   (grey)
//	v = (Encode8[Y] + Encode8[L(min(r,g,b))]) >> 1
//
// where L is Linear8 for 8-bit samples and Linear16 for 16-bit ones. A float sample x is first converted to the 16-bit
// sample ⌊clamp(x, 0, 1)·65535 + ½⌋ (NaN counts as 0). Samples of cyan, magenta, yellow and black are then converted to
// red, green and blue, as if inks were perfect filters:
//
//	r = ⌊((M−c)·(M−k) + ⌊M/2⌋) / M⌋,  g and b likewise from m and y;  M = 255 or 65535   (CMYK)
type LuminanceTables struct {
	// Linear8 holds 256 entries, linear light in 1/65535; nil for pictures of more than 8 bits.
	Linear8 []uint16
	// Linear16 holds 65,536 entries; nil for 8-bit pictures.
	Linear16 []uint16
	// Encode8 holds 65,536 entries: linear light re-encoded to 8-bit sRGB.
	Encode8 []uint8
	// Display holds an entry for each of the 256 or 65,536 samples: the sample re-encoded to 8-bit sRGB, to nearest. It
	// gives the network its input. The light in between is not rounded, so that a 16-bit sRGB picture gives the same
	// input as that picture rounded to 8 bits.
	Display []uint8
}

// NewLuminanceTables returns the tables for a picture's depth (8, 16 or 32 bits) and transfer curve. They are made
// once, because those of 16 bits take several milliseconds, and must not be changed.
func NewLuminanceTables(depth int, t Transfer) *LuminanceTables {
	return transferTables[min(depth/16, 1)][t]()
}

// transferTables returns the tables of 8 bits and of more for each transfer curve.
var transferTables = func() (tables [2][TransferGamma22 + 1]func() *LuminanceTables) {
	for deep := range tables {
		for t := range tables[deep] {
			tables[deep][t] = sync.OnceValue(func() *LuminanceTables {
				return newLuminanceTables(8<<deep, Transfer(t).Linear)
			})
		}
	}
	return tables
}()

func newLuminanceTables(depth int, linear func(float64) float64) *LuminanceTables {
	table := func(n int) []uint16 {
		s := make([]uint16, n)
		parallel.Split(n, 4096, func(a, b int) {
			for i := a; i < b; i++ {
				s[i] = uint16(float64(linear(float64(i)/float64(n-1))*65535) + 0.5)
			}
		})
		return s
	}
	l := &LuminanceTables{Encode8: encode8()}
	if depth == 8 {
		l.Linear8, l.Display = table(1<<8), encodeTable(1<<8, linear)
	} else {
		l.Linear16, l.Display = table(1<<16), encodeTable(1<<16, linear)
	}
	return l
}

// encode8 returns Encode8, which is the same for all pictures and is never changed.
var encode8 = sync.OnceValue(func() []uint8 { return encodeTable(1<<16, TransferLinear.Linear) })

// encodeTable returns n samples re-encoded to 8-bit sRGB, to nearest. The values ascend, so it is enough to find where
// each begins.
func encodeTable(n int, linear func(float64) float64) []uint8 {
	encode := func(i int) int { return int(float64(TransferSRGB.Encode(linear(float64(i)/float64(n-1)))*255) + 0.5) }
	t := make([]uint8, n)
	begin := func(v int) int { return sort.Search(len(t), func(i int) bool { return encode(i) >= v }) }
	parallel.Split(256, 16, func(a, b int) {
		from := begin(a)
		for v := a; v < b; v++ {
			to := begin(v + 1)
			for i := from; i < to; i++ {
				t[i] = uint8(v)
			}
			from = to
		}
	})
	return t
}
