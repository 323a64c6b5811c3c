// Package preview sets the parameters of detection and correction, and shows at once what they change: a job follows
// each change, in phases with one successor for each event.
package preview
