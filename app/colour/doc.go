// Package colour shows pictures in their own colours: it reads ICC profiles and converts samples to the sRGB of the
// screen. It never changes a picture; what it makes is for the eye, and the transfer curve for detection.
//
// Matrix and grey profiles are followed exactly, as are the tables of LUT profiles in the relative colorimetric intent
// (ICC.1:2022; without black point compensation). What lies outside sRGB is clipped channel by channel.
package colour
