// Package document is an open picture and everything that the user does to it: the search region, the mask with the
// brush and the eraser, the findings, the result of the last detection, the corrections that lie over the picture, and
// the history of changes. The picture itself is never changed.
//
// A Document belongs to one goroutine, as a rule the window's. Work that runs elsewhere gets a Snapshot, or the picture
// and the region only, which never change in place. Every change of the mask returns the rectangle of image pixels
// that it touched, for the views to redraw.
package document
