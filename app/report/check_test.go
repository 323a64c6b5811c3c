package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/app/document"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/internal/test/testpic"
	"blik/processing"
)

// bundle is a corrected picture with everything that belongs to it.
type bundle struct {
	source, result, mask, json, page string
}

// bundled corrects a picture of 40 × 30 pixels in two places.
func bundled(t *testing.T, dir, extension string) bundle {
	t.Helper()
	const w, h = 40, 30
	pic := &processing.Picture{Width: w, Height: h, Channels: 3, U8: make([]uint8, 3*w*h)}
	for i := range pic.U8 {
		pic.U8[i] = uint8(40 + i*7%90)
	}
	b := bundle{source: filepath.Join(dir, "a."+extension), result: filepath.Join(dir, "a_corrected."+extension),
		mask: filepath.Join(dir, "a_mask.png"), json: filepath.Join(dir, "a_corrected.json"), page: filepath.Join(dir, "a_corrected.html")}
	png := filepath.Join(dir, "drawn.png")
	if err := imagefile.WritePNG(t.Context(), png, imagefile.WriteOptions{Overwrite: true}, pic); err != nil {
		t.Fatal(err)
	}
	drawn := read(t, png)
	if extension == "png" {
		b.source = png
	} else {
		out := imagefile.Begin()
		defer out.Close()
		if _, err := out.AddPicture(t.Context(), drawn, b.source, nil, imagefile.SaveOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := out.Commit(t.Context(), b.source); err != nil {
			t.Fatal(err)
		}
	}
	file := read(t, b.source)
	patches := []processing.Patch{
		{Spot: 1, Method: processing.MethodSubtract, Runs: []processing.Run{{Y: 3, X0: 4, X1: 6}}, U8: []uint8{1, 2, 3, 4, 5, 6}},
		{Spot: 2, Method: processing.MethodSubtract, Runs: []processing.Run{{Y: 20, X0: 30, X1: 31}}, U8: []uint8{9, 9, 9}},
	}
	params := processing.DefaultParams()
	account := report.NewCorrection(file, "1.2.3", nil, patches, []*document.Origin{{Params: params, Device: "cpu"}})
	account.Mask = imagefile.MaskOf(w, h, patches)
	account.Date, account.MaskPath = time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC), b.mask
	out := imagefile.Begin()
	defer out.Close()
	var err error
	if account.Saved, err = out.AddPicture(t.Context(), file, b.result, patches, imagefile.SaveOptions{}); err == nil {
		err = out.AddMask(t.Context(), b.mask, imagefile.WriteOptions{}, account.Mask)
	}
	if err == nil {
		_, _, err = report.AddCorrection(t.Context(), out, account, i18n.For("en"), false)
	}
	if err == nil {
		err = out.Commit(t.Context(), b.result)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t *testing.T, path string) *imagefile.File {
	t.Helper()
	f, err := imagefile.Read(t.Context(), path, imagefile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// check verifies a bundle, with the mask at a path unless that is empty.
func (b bundle) check(t *testing.T, mask string) (*report.Check, bool) {
	t.Helper()
	var given *report.MaskFile
	var may *processing.Mask
	if mask != "" {
		m, err := imagefile.ReadMask(t.Context(), mask, 0, 0, imagefile.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		given, may = &report.MaskFile{Path: mask, Mask: m}, m
	}
	c, err := imagefile.Compare(t.Context(), b.source, b.result, may, imagefile.DefaultLimits(), false)
	if err != nil {
		t.Fatal(err)
	}
	k, err := report.CheckCorrection(t.Context(), c, given, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return k, c.Proof.Holds()
}

// resealed returns the JSON of a report with a seal that is right, as anybody can compute it.
func resealed(t *testing.T, all map[string]any) []byte {
	t.Helper()
	delete(all, "seal")
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(all); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	lines := strings.SplitAfterN(b.String(), "\n", 2)
	return []byte(lines[0] + ` "seal": "` + hex.EncodeToString(sum[:]) + "\",\n" + lines[1])
}

// change calls do with a decoded report, once for each of its values, which it has changed, and restores it.
func change(at string, v any, set func(any), do func(at string)) {
	with := func(other any) {
		set(other)
		do(at)
		set(v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			change(at+"."+key, v[key], func(other any) { v[key] = other }, do)
		}
	case []any:
		for i := range v {
			change(fmt.Sprintf("%s[%d]", at, i), v[i], func(other any) { v[i] = other }, do)
		}
		with(append(slices.Clone(v), map[string]any{"en": "more"}))
	case string:
		with(v + "x")
	case float64:
		with(v + 1)
	case bool:
		with(!v)
	}
}

// TestReportTampering changes every value of reports, with the old seal and with a new one, and what lies beside them.
// Whatever can be measured is caught even under a right seal.
func TestReportTampering(t *testing.T) {
	t.Parallel()
	ways := 0
	for _, extension := range []string{"png", "tif"} {
		b := bundled(t, t.TempDir(), extension)
		data := testpic.ReadFile(t, b.json)
		lines := bytes.SplitAfterN(data, []byte("\n"), 3)
		sum := sha256.Sum256(slices.Concat(lines[0], lines[2]))
		if want := ` "seal": "` + hex.EncodeToString(sum[:]) + "\",\n"; string(lines[1]) != want {
			t.Fatalf("the seal is %s, want %s", lines[1], want)
		}
		for _, mask := range []string{"", b.mask} {
			if k, holds := b.check(t, mask); !holds || !k.Exists || len(k.Faults)+len(k.Remarks) > 0 {
				t.Fatalf("untouched: %t, %+v", holds, k)
			}
		}
		caught := func(way string, data []byte, want bool) {
			t.Helper()
			ways++
			put(t, b.json, data)
			if k, _ := b.check(t, b.mask); len(k.Faults) == 0 == want {
				t.Errorf("%s: %s: faults %v", extension, way, k.Faults)
			}
		}
		var all map[string]any
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		seal := all["seal"]
		change("", all, func(any) {}, func(at string) {
			if at == ".seal" {
				return
			}
			right := resealed(t, all)
			caught(at+" with a new seal", right, measurable(at))
			caught(at, bytes.Replace(right, []byte(`"seal": "`), []byte(`"seal": "0`), 1), true)
			all["seal"] = seal
		})
		for i := range 20 {
			caught(fmt.Sprintf("cut after %d/20", i), data[:len(data)*i/20], true)
		}
		caught("a byte cut off", data[:len(data)-1], true)
		caught("a line appended", append(bytes.Clone(data), '\n'), true)
		caught("a second report appended", append(bytes.Clone(data), data...), true)
		caught("another file", []byte("a note of mine"), true)
		caught("another format", []byte(`{"format": "blik findings", "version": 1}`), true)
		caught("seal removed", slices.Concat(lines[0], lines[2]), true)
		caught("seal in capitals", slices.Concat(lines[0], []byte(strings.Replace(strings.ToUpper(string(lines[1])), "SEAL", "seal", 1)), lines[2]), false)
		put(t, b.json, data)
		beside(t, b, &ways)
	}
	t.Logf("%d ways", ways)
}

// measurable reports whether a value can be measured on the files: not who made the correction, when and how, nor what
// the finding was. A mask of another name is one that is missing.
func measurable(at string) bool {
	for _, free := range []string{".program", ".date", ".device", ".preset", ".mode", ".mask.file"} {
		if strings.HasPrefix(at, free) {
			return false
		}
	}
	for _, free := range []string{".id", ".method", ".score", ".contrast"} {
		if strings.HasPrefix(at, ".places") && strings.HasSuffix(at, free) {
			return false
		}
	}
	return true
}

// beside changes the files around a report.
func beside(t *testing.T, b bundle, ways *int) {
	t.Helper()
	page, mask, data := testpic.ReadFile(t, b.page), testpic.ReadFile(t, b.mask), testpic.ReadFile(t, b.json)
	expect := func(way, with string, faults, remarks bool) {
		t.Helper()
		*ways++
		if k, _ := b.check(t, with); len(k.Faults) > 0 != faults || len(k.Remarks) > 0 != remarks {
			t.Errorf("%s: faults %v, remarks %v", way, k.Faults, k.Remarks)
		}
	}
	put(t, b.page, append(bytes.Clone(page), ' '))
	expect("page altered", "", true, false)
	remove(t, b.page)
	expect("page removed", "", true, false)
	remove(t, b.json)
	expect("report and page removed", "", false, true)
	put(t, b.page, page)
	expect("report removed", "", true, false)
	put(t, b.json, data)

	m, err := imagefile.ReadMask(t.Context(), b.mask, 0, 0, imagefile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	draw := func(do func(m *processing.Mask)) string {
		other := &processing.Mask{Width: m.Width, Height: m.Height, Pix: slices.Clone(m.Pix)}
		do(other)
		path := filepath.Join(t.TempDir(), "m.png")
		if err := imagefile.WriteMask(t.Context(), path, imagefile.WriteOptions{}, other); err != nil {
			t.Fatal(err)
		}
		return path
	}
	expect("mask grown by a pixel", draw(func(m *processing.Mask) { m.Pix[0] = 255 }), true, false)
	expect("mask all white", draw(func(m *processing.Mask) {
		for i := range m.Pix {
			m.Pix[i] = 255
		}
	}), true, false)
	expect("mask in other levels", draw(func(m *processing.Mask) {
		for i := range m.Pix {
			m.Pix[i] = m.Pix[i] / 255 * 200
		}
	}), false, true)
	put(t, b.mask, append(bytes.Clone(mask), 'x'))
	expect("mask file altered", "", true, false)
	remove(t, b.mask)
	expect("mask file removed", "", false, true)
	put(t, b.mask, mask)

	// A report of an older version has no seal, mask and page; sums in capitals are the same sums.
	var old map[string]any
	if err := json.Unmarshal(data, &old); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"seal", "mask", "page"} {
		delete(old, key)
	}
	old["version"] = 1
	source := old["source"].(map[string]any)
	source["sha256"] = strings.ToUpper(source["sha256"].(string))
	write := func() {
		text, err := json.Marshal(old)
		if err != nil {
			t.Fatal(err)
		}
		put(t, b.json, text)
	}
	write()
	expect("an old report", b.mask, false, true)
	delete(source, "sha256")
	write()
	expect("an old report without a sum", b.mask, true, true)
	old["version"] = 3
	write()
	expect("a newer report", b.mask, true, false)
	put(t, b.json, data)
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
