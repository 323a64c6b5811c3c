package xwidget

import "testing"

// The end of a long name is kept, because scans differ in it.
func TestShortName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "a.tif": "a.tif", "scan_000123.ti": "scan_000123.ti", "painting_scan_0001.tif": "…scan_0001.tif",
		"Картина_с_длинным_именем_07.tif": "…именем_07.tif",
	} {
		if got := ShortName(name); got != want {
			t.Errorf("%q is shortened to %q, want %q", name, got, want)
		}
	}
}
