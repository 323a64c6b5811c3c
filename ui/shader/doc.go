// Package shader draws the picture on the graphics card: as textures, which stay on the card, and a fragment shader
// that reduces, interpolates and blends them. A frame at another place or zoom needs only small tables, not its pixels.
//
// What a frame consists of comes from view.Renderer.Tiles. A Cache keeps the textures of its tiles, a Layer shows them
// in a window of the toolkit, and Choose finds out whether the graphics driver does all this faster than the raster,
// and with the same pixels. A Card that runs out of memory leaves the picture to the raster.
package shader
