package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blik/app/i18n"
	"blik/internal/message"
	"blik/internal/test/testpic"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	for lang, words := range map[string][]string{
		"en": {"System\n", "language: en", "Folders\n", "settings: ", "Memory\n", "this build has no window"},
		"ru": {"Система\n", "язык: ru", "Папки\n", "настройки: ", "Память\n", "в этой сборке нет окна"},
	} {
		got := call(t, "--lang", lang, "doctor")
		if got.status != exitDone || got.errors != "" {
			t.Errorf("%+v", got)
		}
		for _, w := range append(words, "blik ", "cpu") {
			if !strings.Contains(got.out, w) {
				t.Errorf("%s lacks %q", got.out, w)
			}
		}
	}
	if got := call(t, "doctor", "x.tif"); got.status != exitUsage {
		t.Errorf("%+v", got)
	}
}

func TestDoctorNamesWhatDraws(t *testing.T) {
	t.Parallel()
	for want, renderer := range map[string]func() (Drawing, error){
		"Mesa, llvmpipe\n  the processor draws": func() (Drawing, error) {
			return Drawing{"Mesa, llvmpipe", message.Of("the processor draws")}, nil
		},
		"no driver\n\nDevices": func() (Drawing, error) { return Drawing{}, errors.New("no driver") },
	} {
		p := &program{Options: Options{Renderer: renderer, Getenv: func(string) string { return "" }}, tr: i18n.For("en")}
		if got, err := diagnosis(p); err != nil || !strings.Contains(got, "Display\n  "+want+"\n") {
			t.Errorf("%s %v lacks %s", got, err, want)
		}
	}
}

func TestDoctorTriesFolders(t *testing.T) {
	t.Parallel()
	p := &program{tr: i18n.For("en")}
	dir := t.TempDir()
	for path, want := range map[string]string{dir: "(can be written)", filepath.Join(dir, "a", "b"): "(does not exist yet)"} {
		if got := folderText(p, "x", path, nil); got != "x: "+abbreviateHome(path)+" "+want {
			t.Error(got)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("%v is left", entries)
	}
	if got := folderText(p, "x", "", errors.New("no home")); got != "x: no home" {
		t.Error(got)
	}
	testpic.Need(t, os.Getuid() > 0, "another user than root")
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if got := folderText(p, "x", filepath.Join(dir, "a"), nil); !strings.HasSuffix(got, "(cannot be written)") {
		t.Error(got)
	}
}

func TestHomeless(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for path, want := range map[string]string{
		home: "~", filepath.Join(home, "a"): "~" + string(filepath.Separator) + "a", home + "2": home + "2", "/x": "/x",
	} {
		if got := abbreviateHome(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
