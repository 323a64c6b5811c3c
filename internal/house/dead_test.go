package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"blik/internal/test/testpic"
)

// onlyTests lists functions that no command reaches and that tests of several packages share, with the reason why they
// are not test support. The list may only shrink.
var onlyTests = map[string]string{
	"blik/lab/synth.Vary":       "renders the pictures of the tables of docs/accuracy.md",
	"blik/internal/simd.Levels": "lists what only its package asks of the processor",
}

// TestEveryFunctionIsReached fails for functions that no command reaches: they go, or move to the tests that call them.
//
// A function is reached if reached code mentions it, if it is an exported method of a type that reached code turns into
// an interface value, or if it is an unexported one that reached code calls through an interface. What files for other
// systems and build tags mention by name counts as reached, and so do the functions of package testing's world below
// internal/test.
func TestEveryFunctionIsReached(t *testing.T) {
	testpic.Long(t)
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports |
			packages.NeedExportFile | packages.NeedFiles | packages.NeedCompiledGoFiles,
		Dir: root,
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	prog, built := ssautil.Packages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	r := reach{prog: prog, seen: map[*ssa.Function]bool{}, kinds: map[types.Type]bool{}, invoked: map[string]bool{},
		waiting: map[string][]*ssa.Function{}}
	for _, main := range ssautil.MainPackages(built) {
		r.add(main.Func("init"))
		r.add(main.Func("main"))
	}
	elsewhere := mentionedElsewhere(t, pkgs)
	each := func(f func(d *ast.FuncDecl, fn *ssa.Function)) {
		for _, p := range pkgs {
			if strings.HasPrefix(p.PkgPath, module+"/internal/test/") {
				continue
			}
			for _, file := range p.Syntax {
				if ast.IsGenerated(file) {
					continue
				}
				for _, d := range file.Decls {
					if d, ok := d.(*ast.FuncDecl); ok && d.Name.Name != "_" && d.Name.Name != "init" {
						f(d, prog.FuncValue(p.TypesInfo.Defs[d.Name].(*types.Func)))
					}
				}
			}
		}
	}
	each(func(d *ast.FuncDecl, fn *ssa.Function) {
		name := "." + d.Name.Name
		if d.Recv == nil {
			name = fn.Pkg.Pkg.Path() + name
		}
		if elsewhere[name] {
			r.add(fn)
		}
	})
	excused := 0
	each(func(_ *ast.FuncDecl, fn *ssa.Function) {
		if name := fn.RelString(nil); onlyTests[name] != "" && !r.seen[fn] {
			excused++
			r.add(fn)
		}
	})
	if excused != len(onlyTests) {
		t.Errorf("%d of %d exceptions are needed", excused, len(onlyTests))
	}
	each(func(d *ast.FuncDecl, fn *ssa.Function) {
		if !r.seen[fn] {
			t.Errorf("%s: nothing but tests reaches %s", prog.Fset.Position(d.Pos()), fn.RelString(nil))
		}
	})
}

// mentionedElsewhere returns what the files that the build leaves out mention: functions with the paths of their
// packages, and ".Name" for everything that may be a method.
func mentionedElsewhere(t *testing.T, pkgs []*packages.Package) map[string]bool {
	names := map[string]bool{}
	for _, p := range pkgs {
		for _, file := range p.IgnoredFiles {
			if strings.HasSuffix(file, "_test.go") || !strings.HasSuffix(file, ".go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			imported := map[string]string{}
			for _, i := range f.Imports {
				of, _ := strconv.Unquote(i.Path.Value)
				if name := path.Base(of); i.Name == nil {
					imported[name] = of
				} else {
					imported[i.Name.Name] = of
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					names[p.PkgPath+"."+n.Name] = true
				case *ast.SelectorExpr:
					names["."+n.Sel.Name] = true
					if x, ok := n.X.(*ast.Ident); ok {
						names[imported[x.Name]+"."+n.Sel.Name] = true
					}
				}
				return true
			})
		}
	}
	return names
}

// reach collects the functions that are reached.
type reach struct {
	prog *ssa.Program
	seen map[*ssa.Function]bool
	// kinds are the types of interface values.
	kinds map[types.Type]bool
	// invoked are the names of the unexported methods that are called through interfaces, waiting are methods of kinds
	// that are not.
	invoked map[string]bool
	waiting map[string][]*ssa.Function
}

// add adds a function and what it mentions.
func (r *reach) add(fn *ssa.Function) {
	if fn == nil || r.seen[fn] {
		return
	}
	r.seen[fn] = true
	r.add(fn.Origin())
	for _, b := range fn.Blocks {
		for _, instruction := range b.Instrs {
			for _, v := range instruction.Operands(nil) {
				if f, ok := (*v).(*ssa.Function); ok {
					r.add(f)
				}
			}
			switch i := instruction.(type) {
			case *ssa.MakeInterface:
				r.kind(i.X.Type())
			case ssa.CallInstruction:
				if m := i.Common().Method; m != nil && !m.Exported() && !r.invoked[m.Name()] {
					r.invoked[m.Name()] = true
					for _, f := range r.waiting[m.Name()] {
						r.add(f)
					}
				}
			}
		}
	}
}

// kind adds the methods of the type of an interface value and of the types in it, which reflection finds.
func (r *reach) kind(t types.Type) {
	t = types.Unalias(t)
	if r.kinds[t] {
		return
	}
	r.kinds[t] = true
	if !types.IsInterface(t) {
		for _, of := range []types.Type{t, types.NewPointer(t)} {
			for m := range r.prog.MethodSets.MethodSet(of).Methods() {
				f := r.prog.MethodValue(m)
				if name := m.Obj().Name(); m.Obj().Exported() || r.invoked[name] {
					r.add(f)
				} else {
					r.waiting[name] = append(r.waiting[name], f)
				}
			}
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		r.kind(u.Elem())
	case *types.Slice:
		r.kind(u.Elem())
	case *types.Array:
		r.kind(u.Elem())
	case *types.Map:
		r.kind(u.Key())
		r.kind(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			r.kind(f.Type())
		}
	}
}
