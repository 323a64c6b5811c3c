package house

import (
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"

	"blik/internal/test/testpic"
)

const textType = "blik/internal/message.Text"

// text is a constant of type message.Text in the code; for a format, with the types of its arguments.
type text struct {
	value string
	where string
	// format reports that it is the parameter of a call that takes arguments for its verbs.
	format bool
	args   []types.Type
}

// checked returns the packages of the project for this system, with their types.
var checked = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports |
			packages.NeedExportFile | packages.NeedFiles | packages.NeedCompiledGoFiles,
		Dir: root,
	}, "./...")
})

// texts returns every text for people in the production code, as the type checker sees it.
func texts(t *testing.T) []text {
	t.Helper()
	testpic.Long(t)
	pkgs, err := checked()
	if err != nil {
		t.Fatal(err)
	}
	var all []text
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors[0])
		}
		root, _ := filepath.Abs("../..")
		where := func(at token.Pos) string {
			position := p.Fset.Position(at)
			if rel, err := filepath.Rel(root, position.Filename); err == nil {
				position.Filename = rel
			}
			return position.String()
		}
		for _, file := range p.Syntax {
			inCall := map[ast.Expr]bool{}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if ok {
					if sig, ok := p.TypesInfo.TypeOf(call.Fun).Underlying().(*types.Signature); ok {
						all = append(all, formats(p, call, sig, inCall, where)...)
					}
				}
				if e, ok := n.(ast.Expr); ok && !inCall[e] {
					if value, ok := constantText(p, e); ok {
						all = append(all, text{value: value, where: where(e.Pos())})
						return false
					}
				}
				return true
			})
		}
	}
	return all
}

// constantText returns the value of an expression that is a constant text.
func constantText(p *packages.Package, e ast.Expr) (string, bool) {
	tv, ok := p.TypesInfo.Types[e]
	if !ok || tv.Value == nil || tv.Value.Kind() != constant.String || tv.Type.String() != textType {
		return "", false
	}
	return constant.StringVal(tv.Value), true
}

// formats returns the texts of a call with variadic arguments, with those arguments.
func formats(
	p *packages.Package, call *ast.CallExpr, sig *types.Signature, inCall map[ast.Expr]bool, where func(token.Pos) string,
) []text {
	params := sig.Params()
	if !sig.Variadic() || call.Ellipsis.IsValid() {
		return nil
	}
	if rest, ok := params.At(params.Len() - 1).Type().(*types.Slice); !ok || !types.IsInterface(rest.Elem()) {
		return nil // append(bytes, string...) has no slice there
	}
	var args []types.Type
	for _, a := range call.Args[params.Len()-1:] {
		args = append(args, p.TypesInfo.TypeOf(a))
	}
	var found []text
	for i, a := range call.Args[:min(params.Len()-1, len(call.Args))] {
		if params.At(i).Type().String() != textType {
			continue
		}
		if value, ok := constantText(p, a); ok {
			inCall[a] = true
			if params.At(i).Name() == "one" {
				continue // the translations of a plural are those of its other form
			}
			found = append(found, text{value, where(a.Pos()), len(args) > 0, args})
		}
	}
	return found
}

// translation is a text, or one for each plural form.
type translation []string

func (t *translation) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		*t = make([]string, 1)
		return json.Unmarshal(data, &(*t)[0])
	}
	forms := map[string]string{}
	err := json.Unmarshal(data, &forms)
	for _, form := range forms {
		*t = append(*t, form)
	}
	return err
}

func catalogue(t *testing.T, path string) map[string]translation {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Messages map[string]translation `json:"messages"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return file.Messages
}

// same lists texts that are the same in every language.
var same = map[string]bool{
	"RGB": true, "CMYK": true, "σ": true, "m = 5": true, "m = 9": true, "m = 15": true, "OpenMP / CUDA": true,
	"--size: %s": true,
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9*]*(?:\.[0-9*]+)?(?:\[([0-9]+)\])?([a-zA-Z%])`)

// verbs returns the verb of each argument of a format, by the argument's number.
func verbs(format string) map[int]string {
	found, next := map[int]string{}, 1
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		if m[2] == "%" {
			continue
		}
		if m[1] != "" {
			next = int(m[1][0] - '0')
		}
		found[next] = m[2]
		next++
	}
	return found
}

// Every text in the code has its translation in every language, whose verbs are those of the English; and nothing else
// is translated.
func TestEveryTextIsTranslated(t *testing.T) {
	all := texts(t)
	used := map[string]bool{}
	template := regexp.MustCompile(`\{\{-? ?t "([^"]*)"|\(t "([^"]*)"\)`)
	var sources []string
	for _, pattern := range []string{"../../app/*/templates/*.html", "../../app/farm/server/templates/*.html"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal("the templates of reports are missing", err)
		}
		sources = append(sources, found...)
	}
	for _, path := range sources {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range template.FindAllStringSubmatch(string(data), -1) {
			all = append(all, text{value: m[1] + m[2], where: path})
		}
	}
	files, err := filepath.Glob("../../assets/translations/*.json")
	if err != nil || len(files) < 2 {
		t.Fatal("there are no translations", err)
	}
	for _, path := range files {
		if filepath.Base(path) == "en.json" {
			continue
		}
		messages := catalogue(t, path)
		keys := map[string][]string{}
		for key := range messages {
			plain := contextual.ReplaceAllString(key, "")
			keys[plain] = append(keys[plain], key)
		}
		for _, x := range all {
			for _, key := range keys[x.value] {
				used[key] = true
				for _, form := range messages[key] {
					compareVerbs(t, x, form)
				}
			}
			if len(keys[x.value]) == 0 && strings.ContainsFunc(withoutVerbs(x.value), unicode.IsLetter) && !proper(x.value) {
				t.Errorf("%s: %s has no translation of %q", x.where, filepath.Base(path), x.value)
			}
		}
		code := source(t)
		for key := range messages {
			if !used[key] && !strings.Contains(code, strconv.Quote(contextual.ReplaceAllString(key, ""))) {
				t.Errorf("%s: %q is not in the code", filepath.Base(path), key)
			}
		}
	}
}

// contextual matches the context that distinguishes equal texts; see message.Context.
var contextual = regexp.MustCompile(`^[a-z]+\|`)

// eachSource calls f with every file of production code.
func eachSource(t *testing.T, f func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		f(strings.TrimPrefix(filepath.ToSlash(path), "../../"), string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// source is all production code, for texts in files with other build tags and for names that become texts.
func source(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	eachSource(t, func(_, text string) { all.WriteString(text) })
	return all.String()
}

// proper reports whether a text consists of names and units that are the same in every language.
func proper(s string) bool { return same[s] }

func withoutVerbs(s string) string { return verb.ReplaceAllString(s, "") }

func compareVerbs(t *testing.T, x text, form string) {
	t.Helper()
	if !x.format {
		return
	}
	want := verbs(x.value)
	for n, v := range verbs(form) {
		if want[n] != v {
			t.Errorf("%s: argument %d of %q is %%%s in %q", x.where, n, x.value, v, form)
		}
	}
}

// The arguments of a text fit its verbs.
func TestVerbsFitTheirArguments(t *testing.T) {
	for _, x := range texts(t) {
		if !x.format {
			continue
		}
		found := verbs(x.value)
		if len(found) != len(x.args) {
			t.Errorf("%s: %q has %d verbs for %d arguments", x.where, x.value, len(found), len(x.args))
			continue
		}
		for n, v := range found {
			basic, ok := x.args[n-1].Underlying().(*types.Basic)
			number := ok && basic.Info()&types.IsNumeric != 0
			switch {
			case strings.Contains("dxX", v) && (!ok || basic.Info()&types.IsInteger == 0),
				strings.Contains("feg", v) && (!ok || basic.Info()&types.IsFloat == 0),
				strings.Contains("sq", v) && number && !hasString(x.args[n-1]):
				t.Errorf("%s: %%%s of %q is given a %s", x.where, v, x.value, x.args[n-1])
			}
		}
	}
}

func hasString(t types.Type) bool {
	m, _, _ := types.LookupFieldOrMethod(t, true, nil, "String")
	_, ok := m.(*types.Func)
	return ok
}

// The code contains no texts in languages other than English, and its lines are at most 120 columns wide, with tabs of
// four.
func TestLines(t *testing.T) {
	t.Parallel()
	eachSource(t, func(path, text string) {
		for i, line := range strings.Split(text, "\n") {
			if strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) {
				t.Errorf("%s:%d: %s", path, i+1, line)
			}
			if n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); n > 120 {
				t.Errorf("%s:%d: %d columns", path, i+1, n)
			}
		}
	})
}
