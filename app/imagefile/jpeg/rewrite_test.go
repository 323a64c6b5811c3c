package jpeg

import (
	"bytes"
	"os"
	"testing"

	"blik/internal/test/containertest"
	"blik/internal/test/testpic"
	"blik/processing"
)

func mustDecode(t *testing.T, data []byte) *processing.Picture {
	t.Helper()
	return containertest.Decode(t, Open, data)
}

func mustRewrite(t *testing.T, data []byte, patches []processing.Patch) []byte {
	t.Helper()
	return containertest.Rewrite(t, Open, data, patches)
}

// blotch is a patch of n × n pixels of one colour with its upper left corner at x, y.
func blotch(x, y, n int, colour ...uint8) processing.Patch {
	var p processing.Patch
	for dy := range n {
		p.Runs = append(p.Runs, processing.Run{Y: y + dy, X0: x, X1: x + n})
		for range n {
			p.U8 = append(p.U8, colour...)
		}
	}
	return p
}

// TestRecodedCoefficientsAreTheSame decodes and re-encodes real files without a change.
func TestRecodedCoefficientsAreTheSame(t *testing.T) {
	names := testpic.SharedFiles(t, "io-samples/*.jpg")
	if !testpic.Race { // a progressive one of 6.7 megapixels
		names = append(names, testpic.Shared(t, "paintings/p038_gauguin_mahana_no_atua.jpg"))
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := open(t, data).parse(t.Context(), data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out := bytes.NewBuffer(data[:2:2])
		for _, part := range p.pieces {
			if part.scan == nil {
				out.Write(part.data)
				continue
			}
			tables, scanned, err := p.encode(t.Context(), part.scan)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(tables)
			out.Write(part.data)
			out.Write(scanned)
		}
		t.Logf("%s: %d bytes, %d after, %d pieces", name, len(data), out.Len(), len(p.pieces))
		if got, want := mustDecode(t, out.Bytes()), mustDecode(t, data); !bytes.Equal(got.U8, want.U8) {
			t.Errorf("%s: other pixels", name)
		}
	}
}
