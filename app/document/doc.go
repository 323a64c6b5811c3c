// Package document holds an open picture and everything that the user does to it: the search region, the mask with
// brush and eraser, the findings, the result of the last detection, the corrections, and the history of changes. The
// picture itself never changes; corrections are patches that lie over it.
//
// A Document belongs to one goroutine, usually the window's. Work on other goroutines takes a Snapshot, or only the
// picture and the region, which never change in place. Every method that changes the mask returns the rectangle of
// image pixels to redraw.
package document
