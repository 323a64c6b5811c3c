package imagefile

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"image"
	"image/jpeg"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"blik/app/imagefile/container"
	"blik/processing"
)

// Every row of the table opens what it encodes, recognised only by the first bytes, and keeps what the table says.
func TestFormats(t *testing.T) {
	t.Parallel()
	var extensions []string
	for _, row := range formats() {
		if row.name.row().name != row.name || row.open == nil || len(row.magic) == 0 || len(row.extensions) == 0 {
			t.Errorf("%s: the row is incomplete", row.name)
		}
		for _, extension := range row.extensions {
			if slices.Contains(extensions, extension) || extension != strings.ToLower(extension) {
				t.Errorf("%s: %q is taken or not in lower case", row.name, extension)
			}
			extensions = append(extensions, extension)
			if formatOf("."+strings.ToUpper(extension)) != row.name {
				t.Errorf("%q is not %s", extension, row.name)
			}
		}
		if row.encode == nil {
			continue
		}
		for _, pic := range []*processing.Picture{
			{Width: 5, Height: 3, Channels: 1, U8: noise(15)},
			{Width: 1, Height: 2, Channels: 3, U16: []uint16{0, 1, 257, 65534, 2, 3}},
			{Width: 1, Height: 1, Channels: 4, U8: []uint8{1, 2, 3, 4}},
			{Width: 2, Height: 1, Channels: 1, F32: []float32{-1, 2.5}},
		} {
			var out bytes.Buffer
			err := row.encode(t.Context(), &out, pic, container.Metadata{})
			if err != nil {
				if row.holds(pic) {
					t.Errorf("%s: %v", row.name, err)
				}
				continue
			}
			name, opened, err := open(bytes.NewReader(out.Bytes()), int64(out.Len()))
			if err != nil || name != row.name {
				t.Errorf("%s opens as %q: %v", row.name, name, err)
				continue
			}
			got, err := opened.Decode(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			same := slices.Equal(got.U8, pic.U8) && slices.Equal(got.U16, pic.U16) && slices.Equal(got.F32, pic.F32)
			if same != row.holds(pic) {
				t.Errorf("%s: %d channels of %d bits, kept: %t, promised: %t", row.name, pic.Channels, pic.Depth(), same, row.holds(pic))
			}
		}
	}
	if row := formats()[0]; row.lossy || row.encode == nil || !row.cmyk || !row.float {
		t.Errorf("%s cannot take what is read from a lossy file", row.name)
	}
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	if name, _, err := open(bytes.NewReader(photo.Bytes()), int64(photo.Len())); err != nil || name != JPEG {
		t.Errorf("JPEG opens as %q: %v", name, err)
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	all, masks := Extensions(), MaskExtensions()
	if masks[0] != PNG.Extensions()[0] || len(masks) != len(all) {
		t.Errorf("masks have %v", masks)
	}
	ink := &processing.Picture{Width: 1, Height: 1, Channels: 4, U8: make([]uint8, 4)}
	plain := &processing.Picture{Width: 1, Height: 1, Channels: 1, U8: make([]uint8, 1)}
	for _, c := range []struct {
		f    File
		want []Format
	}{
		{File{Format: PNG, Picture: plain}, []Format{PNG}},
		{File{Format: TIFF, Picture: ink}, []Format{TIFF}},
		{File{Format: JPEG, Picture: plain}, []Format{TIFF, PNG, JPEG}},
		{File{Format: JPEG, Picture: ink}, []Format{TIFF, JPEG}},
	} {
		var want []string
		for _, f := range c.want {
			want = append(want, f.Extensions()...)
		}
		if got := c.f.SaveExtensions(); !slices.Equal(got, want) {
			t.Errorf("%s with %d channels is saved as %v, want %v", c.f.Format, c.f.Picture.Channels, got, want)
		}
	}
}

// Extensions are defined only in the table: no file of the command line or of the window names those of two formats.
func TestExtensionsAreInTheTable(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"../cli/*.go", "../../ui/*.go", "../session/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			named := map[Format]bool{}
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && formatOf(text) != "" {
						named[formatOf(text)] = true
					}
				}
				return true
			})
			if len(named) > 1 {
				t.Errorf("%s names the extensions of %d formats; imagefile.Extensions has them", path, len(named))
			}
		}
	}
}
