//go:build (!gles && !arm && !arm64) || darwin

package shader

// usesES reports whether the toolkit draws with OpenGL ES, for which there is no shader. The constraint is that of its
// painter.
const usesES = false
