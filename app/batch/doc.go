// Package batch has many files worked on, on this computer or on a farm, for whatever shows the progress: the command
// line or the window. The queue, and what is guaranteed, is that of package farm.
package batch
