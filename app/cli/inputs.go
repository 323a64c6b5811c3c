package cli

import (
	"blik/app/work"
	"os"
	"path/filepath"
	"strings"
)

// expand returns the files named by the arguments, each once. Patterns that the shell did not expand are expanded here;
// a pattern without matches is kept and fails when it is opened.
func expand(args []string) []string {
	var files []string
	seen := map[string]bool{}
	add := func(path string) {
		if key := filepath.Clean(path); !seen[key] {
			seen[key] = true
			files = append(files, path)
		}
	}
	for _, arg := range args {
		matches := []string(nil)
		if strings.ContainsAny(arg, "*?[") && !work.Exists(arg) {
			matches, _ = filepath.Glob(arg)
		}
		if matches == nil {
			add(arg)
			continue
		}
		for _, m := range matches {
			if info, err := os.Stat(m); err != nil || !info.IsDir() {
				add(m)
			}
		}
	}
	return files
}
