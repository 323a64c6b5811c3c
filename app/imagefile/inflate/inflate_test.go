package inflate

import (
	"bytes"
	"compress/zlib"
	"errors"
	"hash/adler32"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	fast "github.com/klauspost/compress/zlib"
	"pgregory.net/rapid"
)

// material returns bytes of several kinds: filtered photographs, runs, near and far repetitions, and values whose
// frequencies lead to the longest codes.
func material(kind int, n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, uint64(kind)))
	data := make([]byte, n)
	for i := range data {
		switch kind {
		case 0:
			data[i] = byte(rng.NormFloat64() * 6)
		case 1:
			data[i] = byte(rng.Uint32())
		case 2:
			if i > 0 && rng.IntN(500) > 0 {
				data[i] = data[i-1]
			} else {
				data[i] = byte(rng.Uint32())
			}
		case 3:
			back := min(i, []int{1, 2, 3, 5, 7, 8, 9, 300, 32768}[i/700%9])
			if data[i] = byte(rng.Uint32() >> 30); back > 0 && rng.IntN(60) > 0 {
				data[i] = data[i-back]
			}
		case 4:
			for v := rng.Uint32() | 1<<30; v&1 == 0; v >>= 1 {
				data[i]++
			}
			data[i] = data[i]<<3 | byte(rng.Uint32()&7>>(data[i]/4))
		}
	}
	return data
}

const kinds = 5

func packed(t testing.TB, data []byte, level int, other bool) []byte {
	var out bytes.Buffer
	var z io.WriteCloser
	var err error
	if other {
		z, err = fast.NewWriterLevel(&out, level)
	} else {
		z, err = zlib.NewWriterLevel(&out, level)
	}
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// both inflates with the standard library and with this package, and compares bytes and outcome. For a damaged stream
// the library may deliver more or fewer bytes before it returns the error.
func both(t rapid.TB, stream []byte, source func(io.Reader) io.Reader) {
	t.Helper()
	var want, got []byte
	z, wantErr := zlib.NewReader(bytes.NewReader(stream))
	if wantErr == nil {
		want, wantErr = io.ReadAll(z)
	}
	r, err := NewReader(source(bytes.NewReader(stream)))
	if err == nil {
		got, err = io.ReadAll(r)
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%v, the standard library: %v", err, wantErr)
	}
	if err == nil && !bytes.Equal(got, want) {
		t.Fatal("other bytes than the standard library's")
	}
	if n := min(len(got), len(want)); !bytes.Equal(got[:max(n-300, 0)], want[:max(n-300, 0)]) {
		t.Fatal("other bytes before the fault than the standard library's")
	}
	if early := errors.Is(wantErr, io.ErrUnexpectedEOF); early != (err == io.ErrUnexpectedEOF) {
		t.Fatalf("%v, the standard library: %v", err, wantErr)
	}
}

// fewer returns n, or a tenth of it in short runs: under the race detector, which finds nothing in one goroutine,
// all of it takes minutes.
func fewer(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func same(r io.Reader) io.Reader { return r }

func TestInflateEqualsStandardLibrary(t *testing.T) {
	t.Parallel()
	for kind := range kinds {
		both(t, packed(t, material(kind, fewer(400_000), 1), 3, true), same)
		for _, n := range []int{0, 1, 2, 300, fewer(70_000)} {
			data := material(kind, n, uint64(n))
			for _, level := range []int{zlib.HuffmanOnly, 0, 1, 3, 9} {
				both(t, packed(t, data, level, level%2 == 1), same)
			}
		}
	}
}

func TestInflateFromAnyReader(t *testing.T) {
	t.Parallel()
	for kind := range kinds {
		stream := packed(t, material(kind, fewer(150_000), 3), 6, false)
		for _, source := range []func(io.Reader) io.Reader{
			iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
		} {
			both(t, stream, source)
		}
	}
}

func TestInflateDamaged(t *testing.T) {
	t.Parallel()
	streams := make([][]byte, kinds)
	for kind := range streams {
		streams[kind] = packed(t, material(kind, 3000, 5), 6, false)
	}
	rapid.Check(t, func(t *rapid.T) {
		stream := bytes.Clone(streams[rapid.IntRange(0, kinds-1).Draw(t, "kind")])
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			// Most of the structure of a stream is at its start.
			at := rapid.IntRange(0, len(stream)-1).Draw(t, "at")
			if rapid.Bool().Draw(t, "head") {
				at = min(at, rapid.IntRange(0, 90).Draw(t, "head at"))
			}
			stream[at] = rapid.Byte().Draw(t, "byte")
		}
		stream = stream[:rapid.IntRange(0, len(stream)).Draw(t, "length")]
		both(t, stream, same)
	})
	// Cut at every byte of a short one.
	short := packed(t, material(3, 40, 1), 6, false)
	for n := range short {
		both(t, short[:n], same)
	}
}

// TestInflateOddStreams reads codes that ordinary encoders do not write. Bits are written from the lowest up.
func TestInflateOddStreams(t *testing.T) {
	t.Parallel()
	for name, bits := range map[string]string{
		"reserved block":            "1 11",
		"stored, wrong complement":  "1 00 00000 10000000 00000000 10000000 00000000",
		"stored, empty":             "1 00 00000 00000000 00000000 11111111 11111111",
		"fixed, end":                "1 10 0000000",
		"fixed, symbol 286":         "1 10 11000110",
		"fixed, distance 30":        "1 10 0000001 11110",
		"fixed, distance too great": "1 10 00110000 0000001 00010",
		"fixed, cut in distance 30": "0 10 01100100 0001010 1 00000 11000000 1111 1111",
		"fixed, cut in symbol 286":  "0 10 01100100 01100100 01100100 01100100 01100100 1100011",
		"fixed, one literal":        "1 10 00110000 0000000",
		"too many literals":         "1 01 11111 00000 0000",
		"too many distances":        "1 01 00000 01111 0000",
		"no lengths of codes":       "1 01 00000 00000 0000 000 000 000 000",
		"lengths of codes overflow": "1 01 00000 00000 0000 100 100 100 000",
	} {
		t.Run(name, func(t *testing.T) {
			stream := []byte{0x78, 0x9c}
			k := 0
			for _, c := range bits {
				if c == ' ' {
					continue
				}
				if k%8 == 0 {
					stream = append(stream, 0)
				}
				if c == '1' {
					stream[len(stream)-1] |= 1 << (k % 8)
				}
				k++
			}
			both(t, stream, same)
			both(t, append(stream, 0, 0, 0, 1), same)                 // the checksum of nothing
			both(t, append(stream, make([]byte, 40)...), same)        // more than is read ahead
			both(t, append(stream, 0, 0x0d, 0, 0x0d), same)           // another one
			both(t, append(stream, bytes.Repeat(stream, 9)...), same) // what follows is not looked at
			both(t, bytes.Repeat([]byte{0x78, 0x9c, 0xff, 0}, 3), same)
		})
	}
}

// TestInflateMixedBlocks reads streams in which coded and stored blocks follow each other at every place of the buffer.
func TestInflateMixedBlocks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		var out bytes.Buffer
		z := zlib.NewWriter(&out)
		for range 400 {
			// Noise is stored, and every flush ends with an empty stored block.
			if _, err := z.Write(material(rng.IntN(2), rng.IntN(80), rng.Uint64())); err != nil {
				t.Fatal(err)
			}
			if err := z.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for _, source := range []func(io.Reader) io.Reader{same, iotest.OneByteReader, iotest.HalfReader} {
			both(t, out.Bytes(), source)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestInflateReaderFails(t *testing.T) {
	t.Parallel()
	stream := packed(t, material(0, 300_000, 1), 6, false)
	fault := errors.New("the disk is gone")
	for _, n := range []int{0, 1, 2, 100, len(stream) / 2, len(stream) - 1} {
		r, err := NewReader(io.MultiReader(bytes.NewReader(stream[:n]), failing{fault}))
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		if err != fault {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

func TestTablesHold(t *testing.T) {
	t.Parallel()
	// Codes of every length up to the longest, with as many sub-tables as possible: half of the symbols share the
	// shortest code's other half.
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, maxLiterals).Draw(t, "codes")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		lengths := make([]uint8, 0, n)
		lengths = append(lengths, 1, 1)
		for len(lengths) < n {
			// Splitting a code keeps the code complete.
			i := rng.IntN(len(lengths))
			if lengths[i] == longestCode {
				i = 0
				for i < len(lengths) && lengths[i] == longestCode {
					i++
				}
				if i == len(lengths) {
					break
				}
			}
			lengths[i]++
			lengths = append(lengths, lengths[i])
		}
		var lit literalTable
		var dist distanceTable
		if !lit.build(lengths) || !dist.build(lengths[:1]) == (lengths[0] == 1) {
			t.Fatal("a complete code was refused")
		}
	})
}

func TestAdlerEqualsStandardLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 600).Draw(t, "data")
		if rapid.Bool().Draw(t, "most") {
			data = bytes.Repeat([]byte{255}, rapid.IntRange(0, 9000).Draw(t, "length"))
		}
		cut := rapid.IntRange(0, len(data)).Draw(t, "cut")
		s := newAdler()
		s.add(data[:cut])
		s.add(data[cut:])
		if want := adler32.Checksum(data); s.sum() != want {
			t.Fatalf("%08x, want %08x", s.sum(), want)
		}
	})
}

func FuzzInflate(f *testing.F) {
	for kind := range kinds {
		f.Add(packed(f, material(kind, 2000, 9), 6, false))
	}
	f.Fuzz(func(t *testing.T, stream []byte) { both(t, stream, same) })
}

func BenchmarkInflate(b *testing.B) {
	for kind, name := range []string{"photograph", "noise", "runs"} {
		data := material(kind, 8<<20, 1)
		stream := packed(b, data, 3, true)
		run := func(name string, open func(io.Reader) (io.Reader, error)) {
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					r, err := open(bytes.NewReader(stream))
					if err == nil {
						_, err = io.Copy(io.Discard, r)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run(name, func(r io.Reader) (io.Reader, error) { return NewReader(r) })
		run(name+"/klauspost", func(r io.Reader) (io.Reader, error) { return fast.NewReader(r) })
	}
}
