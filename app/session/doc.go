// Package session is the program without its window: the open document and the file it came from, the device, the one
// job that runs, and what is saved. Every method that changes any of this publishes one Change, from which the parts of
// a window update themselves; the command line uses the Engine and the Files of a session directly.
package session
