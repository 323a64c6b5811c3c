package ui

import (
	"fmt"
	"log"
	"os"
	"runtime"
	"strings"

	"github.com/go-gl/gl/v2.1/gl"
	"github.com/go-gl/glfw/v3.3/glfw"

	"blik/internal/message"
)

// Renderer returns the OpenGL renderer of the window: vendor, renderer, version. It opens an invisible window, and must
// be called from the main goroutine while no other window is open. Errors state what is missing.
func Renderer() (name string, err error) {
	if err := checkDisplay(); err != nil {
		return "", err
	}
	// GLFW's binding logs errors that it cannot return, and panics if GLFW was not initialised after all.
	var said strings.Builder
	before := log.Writer()
	log.SetOutput(&said)
	defer func() {
		log.SetOutput(before)
		if r := recover(); r != nil {
			err = noRenderer(said.String())
		}
	}()
	if err := glfw.Init(); err != nil {
		return "", noRenderer(err.Error())
	}
	defer glfw.Terminate()
	// The toolkit requires this version.
	glfw.WindowHint(glfw.ContextVersionMajor, 2)
	glfw.WindowHint(glfw.ContextVersionMinor, 0)
	glfw.WindowHint(glfw.Visible, glfw.False)
	w, err := glfw.CreateWindow(16, 16, "Blik", nil, nil)
	if err != nil {
		return "", noRenderer(err.Error())
	}
	defer w.Destroy()
	w.MakeContextCurrent()
	defer glfw.DetachCurrentContext()
	if err := gl.Init(); err != nil {
		return "", noRenderer(err.Error())
	}
	ask := func(what uint32) string { return gl.GoStr(gl.GetString(what)) }
	return fmt.Sprintf("%s, %s, OpenGL %s", ask(gl.VENDOR), ask(gl.RENDERER), ask(gl.VERSION)), nil
}

// noRenderer returns the error if nothing can be drawn, with a hint.
func noRenderer(why string) error {
	why = strings.Join(strings.Fields(why), " ")
	switch {
	case strings.Contains(why, "open display"):
		return noAnswer(os.Getenv("DISPLAY"))
	case runtime.GOOS == "windows":
		return message.Errorf("no window: there is no driver for OpenGL 2 (%s); install the driver of the graphics "+
			"card, or put Mesa's opengl32.dll beside blik.exe; `blik-cli detect` works without one", why)
	}
	return message.Errorf("no window: there is no driver for OpenGL 2 (%s); install the graphics driver (Debian, "+
		"Ubuntu: libgl1-mesa-dri); `blik detect` works without one", why)
}

// noAnswer returns the error if a display cannot be reached.
func noAnswer(display string) error {
	return message.Errorf("no window: display %s does not respond; `blik detect` works without one", display)
}
