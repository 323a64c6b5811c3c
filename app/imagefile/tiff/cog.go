package tiff

import (
	"bytes"

	"blik/app/imagefile/container"
	"blik/internal/message"
)

// A cloud optimized GeoTIFF describes, between its header and its first directory, how its parts are laid out (GDAL,
// "COG driver: file format details"). Programs that change the file mark this as no longer true, by a part of the
// description that has room for it.
const (
	promiseBegin  = "GDAL_STRUCTURAL_METADATA_SIZE="
	promiseKept   = "KNOWN_INCOMPATIBLE_EDITION=NO\n "
	promiseBroken = "KNOWN_INCOMPATIBLE_EDITION=YES\n"
	maxPromise    = 1 << 10
)

// findPromise finds the word in the description.
func (f *File) findPromise() {
	header := f.src.HeaderSize()
	head, err := f.src.Bytes(header, min(maxPromise, max(f.src.Size-header, 0)))
	if err != nil || !bytes.HasPrefix(head, []byte(promiseBegin)) {
		return
	}
	word := promiseKept
	if !bytes.Contains(head, []byte(word)) {
		word = promiseBroken
	}
	i := bytes.Index(head, []byte(word))
	at := header + int64(i)
	spans, ok := f.spans()
	for _, s := range spans {
		if s.at < at+int64(len(word)) && s.end > at {
			return // the bytes have another purpose
		}
	}
	if i >= 0 && ok {
		f.promise, f.promiseAt = word, at
	}
}

// breakPromise marks the layout of a changed file as another one.
func (f *File) breakPromise(file container.File) error {
	if f.promise == "" {
		return nil
	}
	_, err := file.WriteAt([]byte(promiseBroken), f.promiseAt)
	return err
}

// stale tells what no longer applies to a corrected copy.
func (f *File) stale() []message.Message {
	var all []message.Message
	if f.promise == promiseKept {
		all = append(all, message.Of(
			"The corrected copy will not have the layout of a cloud optimized GeoTIFF (COG), and will say so; its "+
				"pixels and its smaller copies can be read as before."))
	}
	if f.dir.Find(tagCredentials) != nil {
		all = append(all, container.StaleCredentials())
	}
	return all
}
