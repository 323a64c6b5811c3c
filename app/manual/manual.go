// Package manual converts the guide of docs for a window that can show neither tables nor links. It keeps only the
// pictures of the tour.
package manual

import (
	"regexp"
	"strings"

	"blik/docs"
)

// Section is a part of the guide under a heading.
type Section struct {
	Title string
	// Text is Markdown of paragraphs, lists and code.
	Text string
	// Pictures follow the text, each with the text after it.
	Pictures []Picture
}

// Picture is a picture of the guide with the text that follows it.
type Picture struct {
	// Name is the name of a file of docs.Guide, Alt its description, JPEG its content.
	Name, Alt string
	JPEG      []byte
	Text      string
}

// Guide returns the guide in a language, or in English if there is none.
func Guide(language string) ([]Section, error) {
	data, err := docs.Guide.ReadFile("guide." + language + ".md")
	if err != nil {
		if data, err = docs.Guide.ReadFile("guide.md"); err != nil {
			return nil, err
		}
	}
	list := sections(string(data))
	for _, s := range list {
		for i := range s.Pictures {
			if s.Pictures[i].JPEG, err = docs.Guide.ReadFile(s.Pictures[i].Name); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

var (
	picture = regexp.MustCompile(`^!\[.*\]\(.*\)$`)
	shown   = regexp.MustCompile(`^!\[(.*)\]\((guide/.*\.jpg)\)$`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	pages   = regexp.MustCompile(`^\[[^\]]*\]\([^)]*\)( · \[[^\]]*\]\([^)]*\))+$`)
	rule    = regexp.MustCompile(`^\|[-| :]*\|$`)
)

// sections divides a page at its headings. Table rows become list items, and links become plain text; pictures outside
// the tour and links to other pages are dropped.
func sections(page string) (list []Section) {
	var text []string
	// end adds the lines so far to the last picture of the last section, or to the section.
	end := func() {
		if len(list) > 0 {
			s := &list[len(list)-1]
			to := &s.Text
			if n := len(s.Pictures); n > 0 {
				to = &s.Pictures[n-1].Text
			}
			*to = strings.Trim(strings.Join(text, "\n"), "\n")
		}
		text = nil
	}
	head := false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		title, section := strings.CutPrefix(line, "## ")
		if name, page := strings.CutPrefix(line, "# "); page {
			title, section = name, true
		}
		row := strings.HasPrefix(line, "|")
		own := shown.FindStringSubmatch(line)
		switch {
		case own != nil && len(list) > 0:
			end()
			s := &list[len(list)-1]
			s.Pictures = append(s.Pictures, Picture{Name: own[2], Alt: own[1]})
		case section:
			end()
			list = append(list, Section{Title: title})
		case picture.MatchString(line) || pages.MatchString(line) || rule.MatchString(line):
		case row && !head:
			// The first row of a table names the columns.
			head = true
		case row:
			text = append(text, item(line))
		default:
			text = append(text, link.ReplaceAllString(line, "$1"))
		}
		head = row
	}
	end()
	return list
}

// item converts a table row to a list item with the first cell in bold.
func item(row string) string {
	cells := strings.Split(strings.Trim(row, "|"), "|")
	for i := range cells {
		cells[i] = link.ReplaceAllString(strings.TrimSpace(cells[i]), "$1")
	}
	return "- **" + strings.Trim(cells[0], "*") + "** – " + strings.Join(cells[1:], ": ")
}
