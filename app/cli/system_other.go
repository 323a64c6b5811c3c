//go:build !linux && !windows

package cli

import (
	"os"
	"regexp"
	"runtime"
)

// systemName names the system: "macOS 15.1", or what Go calls it.
func systemName() string {
	if runtime.GOOS == "darwin" {
		list, _ := os.ReadFile("/System/Library/CoreServices/SystemVersion.plist")
		version := regexp.MustCompile(`<key>ProductVersion</key>\s*<string>([^<]*)`).FindSubmatch(list)
		if version != nil {
			return "macOS " + string(version[1])
		}
	}
	return runtime.GOOS
}
