package locale

import "testing"

func TestReplacement(t *testing.T) {
	for _, c := range []struct{ all, messages, lang, language, want string }{
		{lang: "C.UTF-8", want: "en"},
		{lang: "C", want: "en"},
		{lang: "en_US.UTF-8"},
		{lang: "ru_RU.UTF-8"},
		{lang: "de_DE.UTF-8@euro"},
		{lang: "sr_RS@latin", want: "sr_RS"},
		{lang: "garbage-1", want: "en"},
		{all: "C.UTF-8", lang: "ru_RU.UTF-8", want: "en"},
		{messages: "C.utf8", lang: "ru_RU.UTF-8", want: "en"},
		{all: "ru_RU.UTF-8", lang: "C.UTF-8"},
		{lang: "C.UTF-8", language: "ru:en"},
		{},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_MESSAGES": c.messages, "LANG": c.lang, "LANGUAGE": c.language}
		if got := replacement(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
