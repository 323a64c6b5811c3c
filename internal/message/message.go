// Package message holds texts for people. The code gives them in English, as a format with its arguments; they are
// translated where they are shown (package app/i18n), so that the code that makes a text knows no language.
package message

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is an English text or a format as in package fmt; it is the key of its translations. Every constant of this
// type must have one: a test collects them by their type.
type Text string

// Message is a text with its arguments. The zero value is the empty message. Arguments that are a Message, a Text or
// an error are translated, too; floats are written with the decimal sign of the language.
type Message struct {
	format, one Text
	n           int
	context     string
	args        []any
}

// Of returns a message with a format and its arguments. Without arguments, the text is taken literally.
func Of(format Text, args ...any) Message { return Message{format: format, args: args} }

// Plural returns the message of one of two formats: one for n = 1, other for the rest. Languages with more forms have
// them in their translation of other. n is not an argument of the formats unless it is given in args.
func Plural(n int, one, other Text, args ...any) Message {
	return Message{format: other, one: one, n: n, args: args}
}

// Context distinguishes messages that are equal in English but not in other languages: their translations have the key
// "context|text".
func (m Message) Context(name string) Message {
	m.context = name
	return m
}

// IsZero reports whether m is the empty message.
func (m Message) IsZero() bool { return m.format == "" && len(m.args) == 0 }

// Equal reports whether two messages are the same in every language.
func (m Message) Equal(other Message) bool {
	return m.Key() == other.Key() && m.String() == other.String()
}

// String returns the message in English.
func (m Message) String() string {
	format := m.format
	if m.one != "" && m.n == 1 {
		format = m.one
	}
	return Format(string(format), m.args)
}

// Format is fmt.Sprintf, except that a format without arguments is literal and that %w is %v.
func Format(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(strings.ReplaceAll(format, "%w", "%v"), args...)
}

// Figures is an argument that consists of numbers without words; its decimal points become the decimal sign of the
// language.
type Figures string

// Capitalized is an argument that is shown with a capital first letter.
type Capitalized struct{ Message }

// String returns the message in English.
func (c Capitalized) String() string { return Capitalize(c.Message.String()) }

// Capitalize returns s with its first letter in upper case.
func Capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// Key returns the key of m's translations.
func (m Message) Key() string {
	if m.context != "" {
		return m.context + "|" + string(m.format)
	}
	return string(m.format)
}

// English returns the format that String uses, and the arguments.
func (m Message) English() (format string, args []any) {
	if m.one != "" && m.n == 1 {
		return string(m.one), m.args
	}
	return string(m.format), m.args
}

// Count returns the number that selects the plural form, and whether m has plural forms.
func (m Message) Count() (n int, plural bool) { return m.n, m.one != "" }

// Localizable is an error that can be shown in other languages.
type Localizable interface {
	error
	// Message describes the error for the user; Error returns it in English.
	Message() Message
}

// Errorf returns an error with a message; it wraps the arguments of %w as fmt.Errorf does.
func Errorf(format Text, args ...any) error {
	var cause error
	if strings.Contains(string(format), "%w") {
		cause = fmt.Errorf(string(format), args...)
	}
	return New(Of(format, args...), cause)
}

// New returns an error with the given message that wraps cause, which may be nil.
func New(m Message, cause error) error { return &failure{m, cause} }

type failure struct {
	message Message
	cause   error
}

func (f *failure) Error() string    { return f.message.String() }
func (f *failure) Message() Message { return f.message }
func (f *failure) Unwrap() error    { return f.cause }

// Join concatenates messages with a separator that needs no translation.
func Join(separator string, messages ...Message) Message {
	var args []any
	for _, m := range messages {
		args = append(args, m)
	}
	escaped := strings.ReplaceAll(separator, "%", "%%")
	return Of(Text(strings.TrimSuffix(strings.Repeat("%s"+escaped, len(messages)), escaped)), args...)
}
