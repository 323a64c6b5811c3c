// Package correct fills glints from the paint around them.
//
// A spot is corrected in a window cut out of the picture, a site: the light is separated from the paint, what is
// clipped is filled, and texture and grain are added. A plan decides which sites take these steps together: those of a
// batch, by operations of a processing.Backend, or on a processing.Local backend each by itself, with the same results.
package correct
