// Package app holds all that the program does without a window: the document and its history, reading and writing
// files, presets, reports, jobs, settings and the command line, each in a package of its own below. Nothing here draws
// a widget, and no algorithm of detection lives here: that is package processing.
package app
