package ui

import (
	"fmt"
	"runtime"

	"github.com/go-gl/gl/v2.1/gl"
	"github.com/go-gl/glfw/v3.3/glfw"
)

// noRenderer says that no OpenGL context can be made, which the window is drawn with.
type noRenderer struct{ err error }

func (e *noRenderer) Error() string {
	advice := "install the graphics driver (Debian, Ubuntu: libgl1-mesa-dri)"
	if runtime.GOOS == "windows" {
		advice = "install the driver of the graphics card, or put Mesa's opengl32.dll beside blik.exe"
	}
	return fmt.Sprintf("no window: there is no driver for OpenGL 2.1 (%v); %s; `blik detect` works without one",
		e.err, advice)
}

func (e *noRenderer) Unwrap() error { return e.err }

// Renderer returns what draws the window, as OpenGL names it: vendor, renderer, version. It opens a window that is not
// shown, and must be called from the main goroutine, when no other is open.
func Renderer() (string, error) {
	if err := reachable(); err != nil {
		return "", err
	}
	if err := glfw.Init(); err != nil {
		return "", &noRenderer{err}
	}
	defer glfw.Terminate()
	// What the toolkit asks for.
	glfw.WindowHint(glfw.ContextVersionMajor, 2)
	glfw.WindowHint(glfw.ContextVersionMinor, 0)
	glfw.WindowHint(glfw.Visible, glfw.False)
	w, err := glfw.CreateWindow(16, 16, "Blik", nil, nil)
	if err != nil {
		return "", &noRenderer{err}
	}
	defer w.Destroy()
	w.MakeContextCurrent()
	defer glfw.DetachCurrentContext()
	if err := gl.Init(); err != nil {
		return "", &noRenderer{err}
	}
	name := func(what uint32) string { return gl.GoStr(gl.GetString(what)) }
	return fmt.Sprintf("%s, %s, OpenGL %s", name(gl.VENDOR), name(gl.RENDERER), name(gl.VERSION)), nil
}
