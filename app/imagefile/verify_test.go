package imagefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/app/i18n"
	"blik/app/imagefile/container"
	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/processing"

	"pgregory.net/rapid"
)

// prove returns the proof of a comparison.
func prove(ctx context.Context, source, result string, mask *processing.Mask, limits Limits) (*Proof, error) {
	c, err := Compare(ctx, source, result, mask, limits, false)
	if err != nil {
		return nil, err
	}
	return c.Proof, nil
}

// rgba is an uncompressed TIFF of 3 × 2 pixels with straight alpha and a resolution.
func rgba() []byte {
	entries := strip(3, 2, slices.Repeat([]uint32{8}, 4), 2, 24, entry{tagExtraSamples, []uint32{2}}, entry{tagOrientation, []uint32{1}})
	return tiffBytes(binary.LittleEndian, entries, noise(24))
}

// words are messages in English.
func words(list []message.Message) []string {
	var all []string
	for _, m := range list {
		all = append(all, m.String())
	}
	return all
}

// Every difference is reported with its name and position.
func TestVerifyFindsWhatDiffers(t *testing.T) {
	source := testpic.WriteFile(t, "a.tif", rgba())
	pixels := len(rgba()) - 24
	mask := &processing.Mask{Width: 3, Height: 2, Pix: []uint8{0, 255, 0, 0, 127, 128}}
	for _, c := range []struct {
		name   string
		spoil  func(data []byte)
		mask   *processing.Mask
		holds  bool
		want   Proof
		phrase string
	}{
		{"nothing", func([]byte) {}, mask, true, Proof{MaskArea: 2}, "Proven: 0 of 6 pixels"},
		{"in the mask", func(d []byte) { d[pixels+4]++; d[pixels+21]++ }, mask, true, Proof{MaskArea: 2, Changed: 2, BytesChanged: 2}, "no other pixel changed"},
		{"no mask", func(d []byte) { d[pixels]++ }, nil, true, Proof{MaskArea: -1, Changed: 1, BytesChanged: 1}, "Without a mask all pixels were free to change: 1 of 6"},
		{"outside", func(d []byte) { d[pixels]++; d[pixels+4]++; d[pixels+17]++ }, mask, false,
			Proof{MaskArea: 2, Changed: 3, Outside: 2, First: []Position{{0, 0}, {1, 1}}, BytesChanged: 3}, "2 pixels changed that were not free to, the first at 0, 0"},
		{"alpha", func(d []byte) { d[pixels+7]++ }, mask, false, Proof{MaskArea: 2, BytesChanged: 1, BytesOutside: 1, Differs: []message.Message{message.Of("alpha or extra channels")}}, "1 bytes changed that are not colour"},
		{"alpha of a changed pixel", func(d []byte) { d[pixels+4]++; d[pixels+7]++ }, mask, false,
			Proof{MaskArea: 2, Changed: 1, BytesChanged: 2, BytesOutside: 1, Differs: []message.Message{message.Of("alpha or extra channels")}}, "1 bytes"},
		{"orientation", func(d []byte) { d[bytes.Index(d, []byte{274 & 255, 274 >> 8, 4, 0})+8] = 3 }, mask, false,
			Proof{MaskArea: 2, BytesChanged: 1, BytesOutside: 1, Differs: []message.Message{differs("orientation")}}, "differs from the original: orientation"},
	} {
		data := rgba()
		c.spoil(data)
		result := testpic.WriteFile(t, "b.tif", data)
		got, err := prove(t.Context(), source, result, c.mask, DefaultLimits())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		w := c.want
		if got.Holds() != c.holds || got.MaskArea != w.MaskArea || got.Changed != w.Changed || got.Outside != w.Outside || !slices.Equal(got.First, w.First) ||
			!got.ByByte || got.BytesChanged != w.BytesChanged || got.BytesOutside != w.BytesOutside || !slices.Equal(words(got.Differs), words(w.Differs)) {
			t.Errorf("%s: %+v, want %+v", c.name, got, w)
		}
		if s := got.Statement(); !strings.Contains(s.String(), c.phrase) {
			t.Errorf("%s: the sentence is %q, want %q in it", c.name, s, c.phrase)
		}
	}
}

func TestVerifyOtherKinds(t *testing.T) {
	source := testpic.WriteFile(t, "a.tif", rgba())
	grey := strip(3, 2, []uint32{16}, 1, 12)
	for name, c := range map[string]struct {
		data    []byte
		differs []string
	}{
		"size": {tiffBytes(binary.BigEndian, strip(2, 3, slices.Repeat([]uint32{8}, 3), 2, 18), noise(18)), []string{"size"}},
		"kind": {tiffBytes(binary.BigEndian, grey, noise(12)), []string{"channels", "depth"}},
	} {
		got, err := prove(t.Context(), source, testpic.WriteFile(t, "b.tif", c.data), nil, DefaultLimits())
		if err != nil || got.Holds() || !slices.Equal(words(got.Differs), c.differs) || strings.Contains(i18n.For("ru").Sprint(got.Statement()), ": ,") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := prove(t.Context(), source, source, processing.NewMask(2, 3), DefaultLimits()); !errors.Is(err, ErrSize) {
		t.Errorf("a mask of another size: %v", err)
	}
	if _, err := prove(t.Context(), source, filepath.Join(t.TempDir(), "none.tif"), nil, DefaultLimits()); err == nil {
		t.Error("a result that is not there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := prove(ctx, source, source, nil, DefaultLimits()); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	russian := i18n.For("ru")
	for _, d := range []message.Text{"size", "depth", "channels", "profile", "resolution", "orientation", "transparency"} {
		if russian.Sprint(differs(d)) == string(d) {
			t.Errorf("%s has no Russian name", d)
		}
	}
}

// changes agrees with a slow reference: apply the patch and compare pixel by pixel.
func TestChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pic := &processing.Picture{Width: rapid.IntRange(1, 12).Draw(t, "w"), Height: rapid.IntRange(1, 6).Draw(t, "h"), Channels: rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "c")}
		n := pic.Width * pic.Height * pic.Channels
		kind := rapid.IntRange(0, 2).Draw(t, "kind")
		level := rapid.SliceOfN(rapid.IntRange(0, 1), n, n)
		old := level.Draw(t, "old")
		fill := func(v []int) (a []uint8, b []uint16, c []float32) {
			for _, x := range v {
				switch kind {
				case 0:
					a = append(a, uint8(x))
				case 1:
					b = append(b, uint16(x)<<8)
				default:
					c = append(c, []float32{float32(math.NaN()), -0.5}[x])
				}
			}
			return a, b, c
		}
		pic.U8, pic.U16, pic.F32 = fill(old)
		var p processing.Patch
		for y := range pic.Height {
			for x := 0; x < pic.Width; {
				x += rapid.IntRange(0, 3).Draw(t, "gap")
				end := min(x+rapid.IntRange(1, 4).Draw(t, "run"), pic.Width)
				if x < end {
					p.Runs = append(p.Runs, processing.Run{Y: y, X0: x, X1: end})
				}
				x = end + 1
			}
		}
		area := processing.Pixels(p.Runs)
		p.U8, p.U16, p.F32 = fill(rapid.SliceOfN(rapid.IntRange(0, 1), area*pic.Channels, area*pic.Channels).Draw(t, "new"))
		want, err := patched(context.Background(), pic, []processing.Patch{p})
		if err != nil {
			t.Fatal(err)
		}
		left, count, err := changes(pic, []processing.Patch{p})
		if err != nil {
			t.Fatal(err)
		}
		got, err := patched(context.Background(), pic, left)
		if err != nil {
			t.Fatal(err)
		}
		d, err := compare(context.Background(), want, got, nil)
		if err != nil || d.changed != 0 {
			t.Fatalf("cut down, the patch makes another picture: %+v, %v", d, err)
		}
		d, err = compare(context.Background(), pic, want, nil)
		if err != nil || d.changed != count {
			t.Fatalf("%d pixels said to change, %d do, %v", count, d.changed, err)
		}
		mask := MaskOf(pic.Width, pic.Height, left)
		if mask.Area() != int(count) {
			t.Fatalf("runs of %d pixels for %d changes", mask.Area(), count)
		}
		d, err = compare(context.Background(), pic, want, func(y int, row []bool) {
			for x := range row {
				row[x] = mask.Pix[y*mask.Width+x] != 0
			}
		})
		if err != nil || d.outside != 0 {
			t.Fatalf("%+v, %v", d, err)
		}
	})
}

// A picture that needs more than the free memory is rejected, with the figure, whatever the limits are.
func TestCheck(t *testing.T) {
	const gib = 1 << 30
	info := container.Info{Width: 20000, Height: 10000, Depth: 16, Colour: container.RGB, Scratch: gib}
	for _, c := range []struct {
		limits          Limits
		size, available int64
		says, ru        string
	}{
		{Limits{Pixels: 1e9, Bytes: 16 * gib}, 1e9, 8 * gib, "", ""},
		{Limits{Pixels: 1e9, Bytes: 16 * gib}, 1e9, 0, "", ""},
		{Limits{Pixels: 1e9, Bytes: 16 * gib}, 1e9, gib, "take 2.1 GiB of memory, and only 1.0 GiB are free", "а свободно только 1,0\u00a0ГиБ"},
		{Limits{Pixels: 1e9, Bytes: 2 * gib}, 1e9, 8 * gib, "take 2.1 GiB of memory, more than the limit of 2.0 GiB", "больше допустимых 2,0\u00a0ГиБ"},
		{Limits{Pixels: 1e9, Bytes: 16 * gib, Work: 12}, 1e9, 3 * gib, "take 3.4 GiB of memory, and only 3.0 GiB are free", "а свободно только 3,0\u00a0ГиБ"},
		{Limits{Pixels: 1e9, Bytes: 16 * gib}, 1e6, 8 * gib, "", ""},
		{Limits{Pixels: 1e8, Bytes: 16 * gib}, 1e9, 8 * gib, "20000 × 10000 pixels are more than the limit of 100 MP", "допустимых 100\u00a0Мп"},
	} {
		err := check(info, c.limits, c.size, c.available)
		var p *faultWithoutPath
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.says != "" && (!errors.As(err, &p) || !errors.Is(p.kind, ErrTooLarge) ||
			errors.Is(p.kind, ErrMemory) != strings.Contains(c.says, "memory") || !strings.Contains(p.text.String(), c.says) || !strings.Contains(i18n.For("ru").Sprint(p.text), c.ru)):
			t.Errorf("got %v, want %q", err, c.says)
		}
	}
	info.Raw = 1.2e9
	if err := check(info, Limits{Pixels: 1e9, Bytes: 16 * gib}, 1000, 0); err != nil {
		t.Errorf("a very plain picture: %v", err)
	}
	info.Expansion = 2
	if err := check(info, Limits{Pixels: 1e9, Bytes: 16 * gib}, 5e8, 0); !errors.Is(err, ErrDamaged) {
		t.Errorf("a file that cannot hold its picture: %v", err)
	}
	if err := check(info, Limits{Pixels: 1e9, Bytes: 16 * gib}, 6e8, 0); err != nil {
		t.Errorf("a file that just can: %v", err)
	}
}

// The limits of a process's control groups and of their ancestors apply, in both versions of control groups.
func TestControlGroups(t *testing.T) {
	mount := t.TempDir()
	put := func(path, content string) {
		t.Helper()
		path = filepath.Join(mount, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("user.slice/memory.max", "3000\n")
	put("user.slice/memory.current", "1000\n")
	put("user.slice/a.scope/memory.max", "max\n")
	put("memory/docker/x/memory.limit_in_bytes", "2000\n")
	put("memory/docker/x/memory.usage_in_bytes", "1800\n")
	put("memory/docker/x/memory.stat", "cache 5\ninactive_file 100\n")
	for _, c := range []struct {
		text string
		want memory
	}{
		{"0::/user.slice/a.scope\n", memory{3000, 2000}},
		{"9:name=systemd:/x\n4:cpu,memory:/docker/x\n0::/\n", memory{2000, 300}},
		{"4:memory:/docker/x\n0::/user.slice/a.scope\n", memory{2000, 300}},
		{"0::/\n", memory{10000, 9000}},
		{"damaged\n", memory{10000, 9000}},
	} {
		m := memory{10000, 9000}
		for _, g := range groupsOf(c.text) {
			m.within(g.limit(mount))
		}
		if m != c.want {
			t.Errorf("%q: %+v, want %+v", c.text, m, c.want)
		}
	}
}

func TestMachineMemory(t *testing.T) {
	m := parseMemory(strings.NewReader("MemTotal:       24627508 kB\nMemFree:         111 kB\nMemAvailable:   20000000 kB\n"))
	if m != (memory{24627508 << 10, 20000000 << 10}) {
		t.Errorf("got %+v", m)
	}
	if m := parseMemory(strings.NewReader("MemAvailable: lots\n")); m != (memory{}) {
		t.Errorf("got %+v", m)
	}
	if _, err := os.Stat("/proc/meminfo"); err == nil {
		if m := machineMemory(); m.total <= 0 || m.available <= 0 || m.available > m.total {
			t.Errorf("this machine: %+v", m)
		}
	}
}
