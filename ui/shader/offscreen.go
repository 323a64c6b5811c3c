package shader

import (
	"image"
	"strings"

	"github.com/go-gl/gl/v2.1/gl"

	"blik/internal/message"
)

// vertices is the toolkit's vertex shader for rectangles; copied is a fragment shader that draws a texture as it is.
const (
	vertices = "#version 110\nattribute vec2 corner;\nvoid main() { gl_Position = vec4(corner, 0, 1); }"
	copied   = "#version 110\nuniform vec2 frame;\nuniform sampler2D picture;\n" +
		"void main() { gl_FragColor = texture2D(picture, gl_FragCoord.xy / frame); }"
)

// offscreen draws as the toolkit does, but into a texture, which works without a visible window. Its methods need the
// OpenGL context in which it was made.
type offscreen struct {
	size image.Point
	// frame is the framebuffer, target its texture, corners the buffer of the vertices.
	frame, target, corners uint32
	// tiles is the program of the shader, whole that of copied.
	tiles, whole uint32
	textures     map[slot]uploaded
	uniforms     map[string]int32
}

// slot is the place of a texture, uploaded its name in OpenGL and the image that it holds.
type (
	slot struct {
		quad *Quad
		name string
	}
	uploaded struct {
		source image.Image
		name   uint32
	}
)

// newOffscreen returns one of a size in pixels. Errors say what the driver lacks.
func newOffscreen(size image.Point) (*offscreen, error) {
	if !strings.Contains(gl.GoStr(gl.GetString(gl.EXTENSIONS)), "GL_EXT_framebuffer_object") {
		return nil, message.Errorf("the driver cannot draw into textures")
	}
	o := &offscreen{size: size, textures: map[slot]uploaded{}, uniforms: map[string]int32{}}
	var err error
	if o.tiles, err = program(Source()); err != nil {
		return nil, err
	}
	if o.whole, err = program(copied); err != nil {
		return nil, err
	}
	gl.GenBuffers(1, &o.corners)
	o.target = o.texture(image.NewRGBA(image.Rectangle{Max: size}))
	gl.GenFramebuffersEXT(1, &o.frame)
	gl.BindFramebufferEXT(gl.FRAMEBUFFER_EXT, o.frame)
	gl.FramebufferTexture2DEXT(gl.FRAMEBUFFER_EXT, gl.COLOR_ATTACHMENT0_EXT, gl.TEXTURE_2D, o.target, 0)
	if status := gl.CheckFramebufferStatusEXT(gl.FRAMEBUFFER_EXT); status != gl.FRAMEBUFFER_COMPLETE_EXT {
		return nil, message.Errorf("the driver cannot draw into textures: status %d", status)
	}
	gl.Viewport(0, 0, int32(size.X), int32(size.Y))
	gl.Enable(gl.BLEND)
	gl.BlendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA)
	return o, nil
}

// close frees what the driver holds.
func (o *offscreen) close() {
	for _, t := range o.textures {
		gl.DeleteTextures(1, &t.name)
	}
	gl.DeleteFramebuffersEXT(1, &o.frame)
	gl.DeleteTextures(1, &o.target)
	gl.DeleteBuffers(1, &o.corners)
	gl.DeleteProgram(o.tiles)
	gl.DeleteProgram(o.whole)
}

// program compiles a fragment shader.
func program(fragment string) (uint32, error) {
	p := gl.CreateProgram()
	for kind, source := range map[uint32]string{gl.VERTEX_SHADER: vertices, gl.FRAGMENT_SHADER: fragment} {
		s := gl.CreateShader(kind)
		text, free := gl.Strs(source + "\x00")
		gl.ShaderSource(s, 1, text, nil)
		free()
		gl.CompileShader(s)
		var ok int32
		if gl.GetShaderiv(s, gl.COMPILE_STATUS, &ok); ok == gl.FALSE {
			log := make([]uint8, 1000)
			gl.GetShaderInfoLog(s, int32(len(log)), nil, &log[0])
			return 0, message.Errorf("the driver refuses the shader: %s", strings.TrimRight(string(log), "\x00\n"))
		}
		gl.AttachShader(p, s)
	}
	gl.BindAttribLocation(p, 0, gl.Str("corner\x00"))
	gl.LinkProgram(p)
	var ok int32
	if gl.GetProgramiv(p, gl.LINK_STATUS, &ok); ok == gl.FALSE {
		return 0, message.Errorf("the driver cannot link the shader")
	}
	return p, nil
}

// texture uploads packed pixels, as the toolkit does.
func (o *offscreen) texture(img *image.RGBA) (t uint32) {
	gl.GenTextures(1, &t)
	gl.ActiveTexture(gl.TEXTURE0)
	gl.BindTexture(gl.TEXTURE_2D, t)
	for _, name := range []uint32{gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER} {
		gl.TexParameteri(gl.TEXTURE_2D, name, gl.LINEAR)
	}
	for _, name := range []uint32{gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T} {
		gl.TexParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE)
	}
	gl.TexImage2D(gl.TEXTURE_2D, 0, gl.RGBA, int32(img.Rect.Dx()), int32(img.Rect.Dy()), 0, gl.RGBA, gl.UNSIGNED_BYTE,
		gl.Ptr(img.Pix))
	return t
}

// clear fills the target with a grey.
func (o *offscreen) clear(grey uint8) {
	gl.ClearColor(float32(grey)/255, float32(grey)/255, float32(grey)/255, 1)
	gl.Clear(gl.COLOR_BUFFER_BIT)
}

// drawQuads draws quads and waits until they are drawn. Textures stay until they are replaced.
func (o *offscreen) drawQuads(quads []*Quad) {
	gl.UseProgram(o.tiles)
	for _, q := range quads {
		q.Drawn()
		r := q.Device
		o.uniform("frame", float32(o.size.X), float32(o.size.Y))
		o.uniform("bounds", float32(r.Min.X), float32(r.Min.Y), float32(r.Max.X), float32(r.Max.Y))
		for name, v := range q.Uniforms {
			o.uniform(name, v)
		}
		for name, img := range q.Textures {
			if was := o.textures[slot{q, name}]; was.source != img {
				gl.DeleteTextures(1, &was.name)
				o.textures[slot{q, name}] = uploaded{img, o.texture(img.(*image.RGBA))}
			}
		}
		unit := int32(0)
		for name := range q.Textures {
			gl.ActiveTexture(gl.TEXTURE0 + uint32(unit))
			gl.BindTexture(gl.TEXTURE_2D, o.textures[slot{q, name}].name)
			gl.Uniform1i(o.location(name), unit)
			unit++
		}
		o.rectangle(r)
	}
	gl.Finish()
}

// drawPixels uploads and draws the pixels of a whole frame, and waits until they are drawn.
func (o *offscreen) drawPixels(img *image.RGBA) {
	gl.UseProgram(o.whole)
	t := o.texture(img)
	gl.Uniform2f(gl.GetUniformLocation(o.whole, gl.Str("frame\x00")), float32(o.size.X), float32(o.size.Y))
	o.rectangle(image.Rectangle{Max: o.size})
	gl.Finish()
	gl.DeleteTextures(1, &t)
}

// rectangle draws a rectangle of device pixels with the current program.
func (o *offscreen) rectangle(r image.Rectangle) {
	x := func(v int) float32 { return float32(v)*2/float32(o.size.X) - 1 }
	y := func(v int) float32 { return 1 - float32(v)*2/float32(o.size.Y) }
	points := []float32{
		x(r.Min.X), y(r.Min.Y), x(r.Max.X), y(r.Min.Y), x(r.Min.X), y(r.Max.Y), x(r.Max.X), y(r.Max.Y),
	}
	gl.BindBuffer(gl.ARRAY_BUFFER, o.corners)
	gl.BufferData(gl.ARRAY_BUFFER, 4*len(points), gl.Ptr(points), gl.STREAM_DRAW)
	gl.EnableVertexAttribArray(0)
	gl.VertexAttribPointerWithOffset(0, 2, gl.FLOAT, false, 0, 0)
	gl.DrawArrays(gl.TRIANGLE_STRIP, 0, 4)
}

func (o *offscreen) location(name string) int32 {
	at, ok := o.uniforms[name]
	if !ok {
		at = gl.GetUniformLocation(o.tiles, gl.Str(name+"\x00"))
		o.uniforms[name] = at
	}
	return at
}

func (o *offscreen) uniform(name string, v ...float32) {
	switch at := o.location(name); len(v) {
	case 1:
		gl.Uniform1f(at, v[0])
	case 2:
		gl.Uniform2f(at, v[0], v[1])
	case 4:
		gl.Uniform4f(at, v[0], v[1], v[2], v[3])
	}
}

// pixels reads what was drawn.
func (o *offscreen) pixels() *image.RGBA {
	read, out := image.NewRGBA(image.Rectangle{Max: o.size}), image.NewRGBA(image.Rectangle{Max: o.size})
	gl.PixelStorei(gl.PACK_ALIGNMENT, 1)
	gl.ReadPixels(0, 0, int32(o.size.X), int32(o.size.Y), gl.RGBA, gl.UNSIGNED_BYTE, gl.Ptr(read.Pix))
	for y := range o.size.Y {
		copy(out.Pix[y*out.Stride:][:out.Stride], read.Pix[(o.size.Y-1-y)*read.Stride:])
	}
	return out
}
