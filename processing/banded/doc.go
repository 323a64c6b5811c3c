// Package banded lets a device process pictures that are larger than its memory. Its Backend keeps the planes in host
// memory and runs every operation on the device's backend band by band: a band of rows is uploaded with as many rows
// above and below as the operation needs, and the rows that are valid are downloaded. Results equal those of the whole
// picture, bit for bit.
//
// Transfers cost more than most operations. Therefore an operation is recorded, and carried out only when its result is
// requested: all entries between stored planes and the result then run on each band while it is on the device (with a
// halo for all of them), and only the result is downloaded. An intermediate value that is requested later is computed
// again, and this time stored; values that are overwritten before they are requested are never computed.
//
// Components are labelled and grown on the device if a whole class plane fits there. Other operations on whole
// pictures, and those that read a picture only once, such as a histogram, run on the host's backend.
package banded
