// Package colour shows pictures in their own colours: it reads ICC profiles and converts samples to the sRGB of the
// screen. It never changes a picture; its results are for display, and the transfer curve for detection.
//
// Matrix and grey profiles are followed exactly, as are the tables of LUT profiles in the relative colorimetric intent
// (ICC.1:2022; without black point compensation). Colours outside sRGB are clipped channel by channel.
//
// The reader of profiles is Blik's own. Package prism/meta/icc of kovidgoyal/imaging was tried in its place, in v1.9.0:
// it panics where a primary is not of type XYZ, allocates what a profile claims, 1.5 GiB for one of 132 bytes that
// claims 2²⁶ tags, and takes 0.14 to 0.54 µs a pixel, so the tables for the screen would stay.
package colour
