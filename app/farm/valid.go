package farm

import (
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// MaxName bounds the name of a worker, a version or a device.
const MaxName = 200

// Clip cuts a text to n bytes, and replaces what is not UTF-8.
func Clip(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	if utf8.ValidString(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "?")
	for len(text) > n {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// ValidSum reports whether a text is a SHA-256 in hexadecimal.
func ValidSum(text string) bool {
	data, err := hex.DecodeString(text)
	return err == nil && len(data) == 32 && strings.ToLower(text) == text
}

// ValidName reports whether a name is that of a file beside others.
func ValidName(name string) bool {
	return len(name) <= 255 && name == path.Base(name) && fs.ValidPath(name) && name != "."
}

// ValidOutput reports whether a name is that of a file beside others which every system permits and none hides.
func ValidOutput(name string) bool {
	return ValidName(name) && !strings.HasPrefix(name, ".") && Portable(name) == nil
}
