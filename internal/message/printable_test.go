package message

import (
	"strings"
	"testing"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"портрет.tif":                  "портрет.tif",
		"a\x1b[31mred":                 `a\x1b[31mred`,
		"a\nb\tc\r":                    `a\x0ab\x09c\x0d`,
		"caf\xe9.png":                  `caf\xe9.png`,
		"a\u202egnp.exe":               `a\u202egnp.exe`,
		"\u009b2J\u2028\u2066\x7f\x00": `\x9b2J\u2028\u2066\x7f\x00`,
		"\ufffd":                       "\ufffd",
		"":                             "",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	// However the text is divided, the output is the same, except for line ends and tabs.
	text := "п\x1b[2J\n\tа\xff\u202eб€\n"
	for i := range len(text) + 1 {
		var b strings.Builder
		w := &PrintableWriter{W: &b}
		for _, part := range []string{text[:i], text[i:]} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if want := "п\\x1b[2J\n\tа\\xff\\u202eб€\n"; b.String() != want {
			t.Errorf("cut at %d: %q, want %q", i, b.String(), want)
		}
	}
}
