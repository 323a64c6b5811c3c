package cli

import (
	"strings"
	"testing"
	"time"

	"blik/app/device"
	"blik/app/i18n"
	"blik/app/settings"
)

// If only other GPUs exist than the requested one, the error lists them.
func TestOthers(t *testing.T) {
	t.Parallel()
	p := &program{tr: i18n.For("en")}
	two := []device.Device{{Name: "cpu"}, {Name: "cuda:0"}, {Name: "cuda:1"}}
	if got := otherDevices(p, "cuda:7", two); got != " There are cpu, cuda:0, cuda:1." {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"cpu", "cuda", "cuda:1"} {
		if got := otherDevices(p, name, two); got != "" {
			t.Errorf("%s, which is there: %q", name, got)
		}
	}
	if got := otherDevices(p, "cuda:0", two[:1]); got != "" {
		t.Errorf("without a GPU: %q", got)
	}
}

func TestDevicesRefusesArguments(t *testing.T) {
	t.Parallel()
	if got := call(t, "--lang", "ru", "devices", "cpu"); got.status != exitUsage || !strings.Contains(got.errors, "нужно аргументов: 0, задано: 1") {
		t.Errorf("%+v", got)
	}
}

func TestWhatAutoDoes(t *testing.T) {
	t.Parallel()
	slope := func(fixed, megapixel time.Duration) settings.Line {
		return settings.Line{Fixed: fixed * time.Millisecond, Megapixel: megapixel * time.Millisecond}
	}
	for _, c := range []struct {
		speed    settings.Speed
		measured bool
		en, ru   string
	}{
		{settings.Speed{}, false, "cuda:0: the first use of --device auto measures", "cuda:0: при первом использовании --device auto один раз"},
		{settings.Speed{CPU: slope(1, 9), GPU: slope(3, 1), Open: time.Second}, true,
			"cuda:0: measured for --device auto: the GPU is faster from 0.25 megapixels; detection takes 1.0 + 9.0 ms per megapixel on the CPU, 3.0 + 1.0 ms on the GPU, which takes 1000 ms to start",
			"видеокарта быстрее начиная с 0,25 мегапикселя; поиск занимает 1,0 + 9,0\u00a0мс на мегапиксель на процессоре, 3,0 + 1,0\u00a0мс на видеокарте, запуск которой занимает 1000\u00a0мс"},
		{settings.Speed{CPU: slope(3, 9), GPU: slope(3, 1)}, true, "the GPU is always faster; ", "видеокарта всегда быстрее; "},
		{settings.Speed{CPU: slope(1, 1), GPU: slope(3, 1)}, true, "the GPU is never faster; ", "видеокарта не бывает быстрее; "},
	} {
		for lang, want := range map[string]string{"en": c.en, "ru": c.ru} {
			p := &program{tr: i18n.For(lang)}
			if got := automaticText(p, "cuda:0", c.speed, c.measured); !strings.Contains(got, want) {
				t.Errorf("%s\nlacks\n%s", got, want)
			}
		}
	}
}
