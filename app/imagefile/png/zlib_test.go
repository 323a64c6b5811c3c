package png

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"blik/internal/testpic"
)

// TestInflateAsTheStandardLibrary packs data of many kinds at all levels, with flushes amid, and unpacks them from readers
// that give little at a time.
func TestInflateAsTheStandardLibrary(t *testing.T) {
	testpic.Need(t, !testpic.Race, "a run without the race detector, to which one goroutine is of no interest")
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		level := rapid.IntRange(flate.HuffmanOnly, flate.BestCompression).Draw(t, "level")
		var want, packed bytes.Buffer
		z, err := zlib.NewWriterLevel(&packed, level)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			part := make([]byte, rapid.SampledFrom([]int{0, 1, 40, 5000, 70000, 200000}).Draw(t, "length"))
			spread := rapid.SampledFrom([]int{1, 2, 20, 256}).Draw(t, "spread")
			for i := range part {
				part[i] = byte(rng.IntN(spread))
				if back := 1 + rng.IntN(40000); rng.IntN(3) > 0 && back <= want.Len()+i && back <= i {
					part[i] = part[i-back]
				}
			}
			want.Write(part)
			if _, err := z.Write(part); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "flush") {
				if err := z.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		src := io.Reader(bytes.NewReader(packed.Bytes()))
		if rapid.Bool().Draw(t, "drop by drop") {
			src = iotest.OneByteReader(src)
		}
		r, err := newZlibReader(src)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%d bytes came back as %d others", want.Len(), len(got))
		}
	})
}

func TestInflateNoticesTruncation(t *testing.T) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(bytes.Repeat([]byte("some text and then some more; "), 100))
	z.Close()
	for n := range packed.Len() {
		if _, err := unzip(packed.Bytes()[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%d of %d bytes: %v", n, packed.Len(), err)
		}
	}
}

func unzip(packed []byte) ([]byte, error) {
	r, err := newZlibReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// FuzzInflate compares with the standard library: the same bytes, or an error from both.
func FuzzInflate(f *testing.F) {
	for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
		var packed bytes.Buffer
		z, _ := zlib.NewWriterLevel(&packed, level)
		z.Write([]byte("abcabcabcabc, and abcd; and a rather longer text than that"))
		z.Flush()
		z.Write(bytes.Repeat([]byte{7}, 1000))
		z.Close()
		f.Add(packed.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 22
		var want []byte
		z, wantErr := zlib.NewReader(bytes.NewReader(data))
		if wantErr == nil {
			want, wantErr = io.ReadAll(io.LimitReader(z, limit))
		}
		var got []byte
		r, err := newZlibReader(bytes.NewReader(data))
		if err == nil {
			got, err = io.ReadAll(io.LimitReader(r, limit))
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v, the standard library has %v", err, wantErr)
		}
		if err == nil && !bytes.Equal(got, want) {
			t.Fatal("other bytes than from the standard library")
		}
	})
}
