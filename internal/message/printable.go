package message

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with everything escaped that a terminal or a page would interpret instead of showing: control
// characters, characters that change the direction of text, and invalid UTF-8. File names may contain any of them.
func Printable(s string) string {
	if !strings.ContainsFunc(s, acts) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		writePrintable(&b, s[i:i+n], r)
		i += n
	}
	return b.String()
}

// acts reports whether a terminal or a page would interpret a character instead of showing it.
func acts(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// writePrintable writes a character, escaped if necessary.
func writePrintable(b *strings.Builder, s string, r rune) {
	switch {
	case r == utf8.RuneError && len(s) == 1:
		fmt.Fprintf(b, "\\x%02x", s[0])
	case !acts(r):
		b.WriteString(s)
	case r < 0x100:
		fmt.Fprintf(b, "\\x%02x", r)
	default:
		fmt.Fprintf(b, "\\u%04x", r)
	}
}

// PrintableWriter passes on what is written to it, with everything except line ends and tabs escaped as by Printable.
type PrintableWriter struct {
	W io.Writer
	// part holds bytes that may be the beginning of a character.
	part []byte
}

func (w *PrintableWriter) Write(p []byte) (int, error) {
	text := string(append(w.part, p...))
	w.part = nil
	var b strings.Builder
	for i := 0; i < len(text); {
		if rest := text[i:]; !utf8.FullRuneInString(rest) {
			w.part = []byte(rest)
			break
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == '\n' || r == '\t' {
			b.WriteRune(r)
		} else {
			writePrintable(&b, text[i:i+n], r)
		}
		i += n
	}
	if _, err := io.WriteString(w.W, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
