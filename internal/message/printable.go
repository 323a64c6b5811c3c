package message

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with everything escaped that a terminal or a page would act on instead of showing it: control
// characters, those that turn the direction of text, and bytes that are no UTF-8. Names of files may hold any of them.
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

// acts reports whether a character does something else than to be shown.
func acts(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// writePrintable writes a character, escaped where it has to be.
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

// PrintableWriter passes on what is written, with everything but the ends of lines and tabs as Printable shows it.
type PrintableWriter struct {
	W io.Writer
	// part are bytes that may be the beginning of a character.
	part []byte
}

// Write implements io.Writer.
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
