// Package session is the program without its window: the open document and its file, the device, the one running job,
// and what is saved. Every method that changes any of these publishes one Change, from which the parts of a window
// update themselves. The command line uses only Engine and Files.
package session
