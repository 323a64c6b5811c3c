package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"blik/app/cli"
	"blik/app/i18n"
	"blik/internal/message"
	lab "blik/lab/cli"
)

// headings are the section headings that cobra/doc writes.
var headings = []message.Text{
	"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "OPTIONS INHERITED FROM PARENT COMMANDS", "SEE ALSO",
}

// writeManual writes one manual page per command into a folder.
func writeManual(lang, version, folder string, date time.Time) error {
	tr := i18n.For(lang)
	if tr.Code() != lang {
		return fmt.Errorf("the manual is not written in %q", lang)
	}
	var words []string
	for _, h := range headings {
		words = append(words, ".SH "+string(h)+"\n", ".SH "+tr.Sprintf(h)+"\n")
	}
	translated := strings.NewReplacer(words...)
	root := cli.Commands(lang, version, lab.Commands())
	root.DisableAutoGenTag = true
	tidy(root)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	header := doc.GenManHeader{Section: "1", Date: &date, Source: "Blik " + version, Manual: "Blik"}
	if err := doc.GenManTree(root, &header, folder); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if err := os.WriteFile(page, []byte(translated.Replace(string(text))), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tidy prepares the help of a command for cobra/doc, which converts Markdown to pages: examples indented by two spaces
// become code blocks.
func tidy(c *cobra.Command) {
	var lines []string
	inside := false
	for line := range strings.SplitSeq(c.Long, "\n") {
		if example := strings.HasPrefix(line, "  "); example {
			line = "    " + line
			inside = true
		} else if inside && line != "" {
			lines = append(lines, "")
			inside = false
		}
		lines = append(lines, line)
	}
	c.Long = strings.Join(lines, "\n")
	flags := func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "<", "&lt;") }
	c.Flags().VisitAll(flags)
	c.PersistentFlags().VisitAll(flags)
	for _, sub := range c.Commands() {
		tidy(sub)
	}
}
