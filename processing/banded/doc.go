// Package banded lets a device work on pictures that are larger than its memory. Its Backend keeps the planes in host memory and
// does every operation on the backend of the device by bands: a band of rows is sent over together with as many rows
// above and below as the operation reaches, and what came out right is taken back. Results are those of the whole
// picture, bit for bit.
//
// Sending costs more than most operations. So operations wait until somebody asks for a result, and all that wait are done together on
// each band while it is there (the halo of the band is then that of all of them). What looks at a picture as a
// whole, such as labelling, and what only reads it once, such as a histogram, is done on the backend of the host.
package banded
