package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// pages returns the text of every page of documentation by its path in the project.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "assets/*.md", "training/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			found[filepath.ToSlash(name)] = string(text)
		}
	}
	if len(found) < 5 {
		t.Fatalf("only %d pages were found", len(found))
	}
	return found
}

// anchors returns what a link to a heading of the page may name after its #, as GitHub makes it of the heading.
func anchors(page string) []string {
	var names []string
	code := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if code || !strings.HasPrefix(line, "#") {
			continue
		}
		heading := strings.TrimSpace(strings.TrimLeft(line, "#"))
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, heading))
	}
	return names
}

// Every relative link of the documentation leads to a file, and to a heading of it if it names one.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	all := pages(t)
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if path != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: %s does not exist", name, m[1])
				continue
			}
			if page, known := all[target]; anchor != "" && (!known || !slices.Contains(anchors(page), anchor)) {
				t.Errorf("%s: %s has no heading for #%s", name, target, anchor)
			}
		}
	}
}

// Both tables of dependencies name every module that go.mod requires directly, in its version.
func TestDependenciesAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	all := pages(t)
	count := 0
	for _, m := range regexp.MustCompile(`(?m)^\t([^ ]+) v([^ \n]+)$`).FindAllStringSubmatch(string(text), -1) {
		count++
		entry := m[1] + " " + m[2]
		if strings.HasPrefix(m[2], "0.0.0-") {
			entry = m[1] // a module without releases
		}
		for _, name := range []string{"README.md", "README.ru.md"} {
			if !strings.Contains(all[name], entry) {
				t.Errorf("%s: the table of dependencies lacks %s", name, entry)
			}
		}
	}
	if count < 5 {
		t.Errorf("only %d requirements were found", count)
	}
}
