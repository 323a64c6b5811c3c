package server

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"
)

// Stored messages are compressed one by one: JetStream's own compression works on blocks of 8 MB, for which a server
// needs four times the memory.

// packedMark is the first byte of compressed messages; no other stored message begins with it.
const packedMark = 'z'

// dictionary holds strings common to most messages, the most frequent last.
const dictionary = `"crashes":1,"log":"signal: killed","error":"","end":"failed","end":"done","found":true,` +
	`"peak":1000000,"device":"cuda:0","device":"cpu","sentence":"findings corrected: 1; pixels changed: 100 (0.1 %)",` +
	`"outputs":[{"name":"_corrected.tif","sha256":""},{"name":"_corrected.json"},{"name":"_corrected.html"}],` +
	`"worker":"","program":"1.0.0","model":"","ended":"2026-01-01T00:00:00.000000000Z","seconds":1.0` +
	`{"job":{"id":"","batch":"","in":{"root":"scans","path":".tif"},"out":{"root":"out","path":""},"size":1000000,` +
	`"modified":1700000000000},"source_sha256":"","sha256":""`

var packers = sync.Pool{New: func() any {
	w, _ := flate.NewWriterDict(io.Discard, flate.BestSpeed, []byte(dictionary)) // the level is valid
	return w
}}

// pack compresses data.
func pack(data []byte) ([]byte, error) {
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	var b bytes.Buffer
	b.WriteByte(packedMark)
	w.Reset(&b)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// maxUnpacked bounds the size of an unpacked message.
const maxUnpacked = 64 << 20

// unpack is the inverse of pack; uncompressed data is returned unchanged.
func unpack(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0] != packedMark {
		return data, nil
	}
	r := flate.NewReaderDict(bytes.NewReader(data[1:]), []byte(dictionary))
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxUnpacked))
}
