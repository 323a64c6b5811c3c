package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The seal of a report is its second line, and holds the SHA-256 of all other lines.
const (
	sealBegin = "{\n \"seal\": \""
	sealEnd   = "\",\n"
)

// sealed adds the seal to the JSON of a report.
func sealed(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append([]byte(sealBegin+hex.EncodeToString(sum[:])+sealEnd), data[len("{\n"):]...)
}

// seal returns the seal of a report, empty without one, and whether it is that of the report.
func seal(data []byte) (stated string, holds bool) {
	rest, ok := bytes.CutPrefix(data, []byte(sealBegin))
	if !ok {
		return "", false
	}
	line, rest, ok := bytes.Cut(rest, []byte(sealEnd))
	if !ok {
		return "", false
	}
	sum := sha256.Sum256(append([]byte("{\n"), rest...))
	return string(line), strings.EqualFold(string(line), hex.EncodeToString(sum[:]))
}
