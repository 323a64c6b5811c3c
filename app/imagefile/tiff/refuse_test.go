package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/test/containertest"
)

// TestRefused checks the kind of fault of unsupported variants and of contradictions.
func TestRefused(t *testing.T) {
	d := dialect{order: binary.LittleEndian}
	grey := form{order: d.order, depth: 8, compression: compNone, photometric: blackIsZero, width: 20, height: 10, segH: 4}
	for _, c := range []struct {
		name string
		more []field
		kind error
	}{
		{"Lab", []field{d.shorts(tagPhotometric, 8)}, container.ErrUnsupported},
		{"LogLuv", []field{d.shorts(tagPhotometric, 32845)}, container.ErrUnsupported},
		{"camera", []field{d.shorts(tagPhotometric, 32803)}, container.ErrUnsupported},
		{"DNG", []field{block(tagDNGVersion, exif.Byte, []byte{1, 4, 0, 0})}, container.ErrUnsupported},
		{"YCbCr", []field{d.shorts(tagPhotometric, photometricYCbCr), d.shorts(tagSamples, 3)}, container.ErrUnsupported},
		{"mask", []field{d.shorts(tagPhotometric, photometricMask)}, container.ErrUnsupported},
		{"unknown colours", []field{d.shorts(tagPhotometric, 77)}, container.ErrUnsupported},
		{"preview", []field{d.longs(tagSubfileType, 1), d.longs(tagSubIFDs, 8)}, container.ErrUnsupported},
		{"signed", []field{d.shorts(tagSampleFormat, 2)}, container.ErrUnsupported},
		{"16-bit float", []field{d.shorts(tagSampleFormat, 3), d.shorts(tagBitsPerSample, 16)}, container.ErrUnsupported},
		{"12 bits", []field{d.shorts(tagBitsPerSample, 12)}, container.ErrUnsupported},
		{"32-bit integers", []field{d.shorts(tagBitsPerSample, 32)}, container.ErrUnsupported},
		{"mixed depth", []field{d.shorts(tagBitsPerSample, 8, 16), d.shorts(tagSamples, 2)}, container.ErrUnsupported},
		{"Zstandard", []field{d.shorts(tagCompression, 50000)}, container.ErrUnsupported},
		{"old JPEG", []field{d.shorts(tagCompression, 6)}, container.ErrUnsupported},
		{"unknown compression", []field{d.shorts(tagCompression, 999)}, container.ErrUnsupported},
		{"predictor", []field{d.shorts(tagCompression, uint16(compLZW)), d.shorts(tagPredictor, 9)}, container.ErrUnsupported},
		{"other inks", []field{d.shorts(tagPhotometric, photometricInk), d.shorts(tagSamples, 6), d.shorts(tagInkSet, 2)}, container.ErrUnsupported},
		{"CCITT of 8 bits", []field{d.shorts(tagCompression, uint16(compG4))}, container.ErrDamaged},
		{"no samples", []field{d.shorts(tagSamples, 0)}, container.ErrDamaged},
		{"too few samples", []field{d.shorts(tagPhotometric, photometricRGB)}, container.ErrDamaged},
		{"no rows in a strip", []field{d.longs(tagRowsPerStrip, 0)}, container.ErrDamaged},
		{"no width", []field{d.longs(tagWidth)}, container.ErrDamaged},
		{"width 0", []field{d.longs(tagWidth, 0)}, container.ErrDamaged},
		{"enormous", []field{d.longs(tagWidth, 1<<31-1), d.longs(tagLength, 1<<31-1)}, container.ErrDamaged},
		{"large", []field{d.longs(tagWidth, 100000), d.longs(tagLength, 100000)}, container.ErrDamaged},
		{"too few strips", []field{d.longs(tagStripOffsets, 8), d.longs(tagStripByteCounts, 80)}, container.ErrDamaged},
		{"short strips", []field{d.longs(tagStripByteCounts, 80, 7, 40)}, container.ErrDamaged},
		{"no strips", []field{d.longs(tagStripOffsets)}, container.ErrDamaged},
		{"strips past the end", []field{d.longs(tagStripOffsets, 8, 88, 1<<31)}, container.ErrDamaged},
		{"sparse", []field{d.longs(tagStripOffsets, 8, 0, 90), d.longs(tagStripByteCounts, 80, 0, 40)}, container.ErrDamaged},
		{"no LZW", []field{d.shorts(tagCompression, uint16(compLZW))}, container.ErrDamaged},
		{"no Deflate", []field{d.shorts(tagCompression, uint16(compDeflate))}, container.ErrDamaged},
		{"no PackBits", []field{d.shorts(tagCompression, uint16(compPackBits)), d.longs(tagStripByteCounts, 80, 3, 40)}, container.ErrDamaged},
		{"no JPEG", []field{d.shorts(tagCompression, uint16(compJPEG))}, container.ErrDamaged},
		{"no palette", []field{d.shorts(tagPhotometric, photometricIndex)}, container.ErrDamaged},
		{"enormous tiles", []field{d.longs(tagTileWidth, 1<<30), d.longs(tagTileLength, 1<<30)}, container.ErrDamaged},
		{"tiles without pixels", []field{d.longs(tagTileWidth, 16), d.longs(tagTileLength, 0)}, container.ErrDamaged},
		{"lying count", []field{{tag: tagStripOffsets, kind: exif.Long, count: 1 << 31, kept: []byte{8, 0, 0, 0}}}, container.ErrDamaged},
		{"text for a number", []field{block(tagWidth, exif.ASCII, []byte("20\x00"))}, container.ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := grey
			f.more = c.more
			samples := make([]uint32, f.width*f.height)
			for i := range samples {
				samples[i] = 0xff
			}
			data := f.write(t, samples)
			g, err := Open(bytes.NewReader(data), int64(len(data)))
			if err == nil {
				_, err = g.Decode(context.Background())
			}
			if !errors.Is(err, c.kind) {
				t.Fatalf("error %v", err)
			}
			containertest.Fault(t, err)
		})
	}
}

// TestLoop checks that directories that refer to themselves do not cause an endless loop.
func TestLoop(t *testing.T) {
	f := form{order: binary.BigEndian, depth: 8, compression: compNone, photometric: blackIsZero, width: 20, height: 10, segH: 4}
	data := f.write(t, make([]uint32, 200))
	d := open(t, data).dir
	f.order.PutUint32(data[d.At+d.Length-4:], uint32(d.At))
	if n := open(t, data).Info().Pictures; n != 1 {
		t.Errorf("%d pictures", n)
	}
	decode(t, data)
}

func TestBesideThePicture(t *testing.T) {
	f := form{order: binary.BigEndian, depth: 8, compression: compNone, photometric: blackIsZero, width: 20, height: 10, segH: 4}
	if g := open(t, f.write(t, make([]uint32, 200))); g.layered() || g.copies() != 0 {
		t.Errorf("layers %t, %d copies", g.layered(), g.copies())
	}
	f.more = []field{block(tagLayers, exif.Undefined, []byte("Adobe Photoshop Document Data Block\x00")), dialect{order: f.order}.longs(tagSubIFDs, 8, 8)}
	data := f.write(t, make([]uint32, 200))
	g := open(t, data)
	if o := g.Info().Others; !o.Layers || o.Copies != 2 || len(o.Names()) != 2 {
		t.Errorf("%+v", o)
	}
	if !g.layered() || g.copies() != 2 {
		t.Errorf("layers %t, %d copies", g.layered(), g.copies())
	}
	pic := decode(t, data)
	patch := change(pic, 19, 9)
	result := patched(t, data, patch)
	onlyChanged(t, pic, decode(t, result), patch)
	if len(data) != len(result) || differing(data, result) != 1 {
		t.Errorf("%d bytes differ", differing(data, result))
	}
}

// TestTruncated truncates files at every length: the result must be a fault, unless only the end of the chain or tag
// values outside the picture are missing.
func TestTruncated(t *testing.T) {
	for _, big := range []bool{false, true} {
		f := form{order: binary.BigEndian, big: big, depth: 8, compression: compLZW, photometric: photometricRGB, width: 9, height: 6, segH: 4}
		data := f.write(t, make([]uint32, 9*6*3))
		whole := open(t, data)
		for n := range len(data) {
			g, err := Open(bytes.NewReader(data[:n]), int64(n))
			if err == nil {
				_, err = g.Decode(context.Background())
			}
			if err == nil && n >= int(whole.dir.At+whole.dir.Length-whole.src.OffsetSize()) {
				continue
			}
			containertest.Fault(t, err)
		}
	}
}
