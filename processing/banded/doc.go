// Package banded lets a device work on pictures that are larger than its memory. Its Backend keeps the planes in host
// memory and does every operation on the backend of the device by bands: a band of rows is sent over together with as
// many rows above and below as the operation reaches, and what came out right is taken back. Results are those of the
// whole picture, bit for bit.
//
// Sending costs more than most operations. So an operation waits until somebody asks for its result; then all that
// leads there from what is kept is done on each band while it is there (its halo is that of all of them), and only the
// result is taken back. What is on the way is made again if it is asked for later, and kept the second time; what is
// overwritten before anybody asked is never made.
//
// Components are labelled and grown on the device where a whole class plane fits there. What else looks at a picture as
// a whole, and what only reads it once, such as a histogram, is done on the backend of the host.
package banded
