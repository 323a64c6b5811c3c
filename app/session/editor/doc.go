// Package editor changes the mask by hand: strokes, shapes, clicks on findings, and the steps of the history.
package editor
