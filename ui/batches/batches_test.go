package batches

import (
	"testing"

	"blik/app/batch"
	"blik/app/i18n"
)

// The remaining time is written in the language of the window.
func TestStateText(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string]string{
		"en": "Batch: 1 of 3 done, 0 failed, 1 min 30 s left",
		"ru": "Пакет: готово 1 из 3, с ошибкой 0, осталось 1\u00a0мин 30\u00a0с",
	} {
		f := New(Options{Texts: func() *i18n.Printer { return i18n.For(lang) }})
		if got := f.stateText(batch.State{Files: 3, Done: 1, Left: 90.4}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
