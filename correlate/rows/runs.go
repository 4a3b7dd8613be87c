package rows

import "strings"

// RunNames gives every run of sets a name, in their order: its own, or that of
// its file where it has none, and file:run where several files have a run of
// that name.
func RunNames(sets []*Set) []string {
	var names, files []string
	count := map[string]int{}
	for _, s := range sets {
		for _, name := range s.Runs() {
			if name == "" {
				name = FileBase(s.Name)
			}
			count[name]++
			names, files = append(names, name), append(files, FileBase(s.Name))
		}
	}
	taken := map[string]bool{}
	for i, name := range names {
		if count[name] > 1 {
			name = files[i] + ":" + name
		}
		for taken[name] {
			name += "'"
		}
		taken[name] = true
		names[i] = name
	}
	return names
}

// TellRunsApart renames the runs of several sets by RunNames, so that runs of
// two files are never taken for one. A single set is left alone.
func TellRunsApart(sets []*Set) {
	if len(sets) < 2 {
		return
	}
	names := RunNames(sets)
	for _, s := range sets {
		for from := 0; from < len(s.Rows); {
			to, run := from, s.Rows[from].Run
			for ; to < len(s.Rows) && s.Rows[to].Run == run; to++ {
				s.Rows[to].Run = names[0]
			}
			from, names = to, names[1:]
		}
	}
}

// FileBase is a file's name without folders and extension.
func FileBase(path string) string {
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	if dot := strings.LastIndexByte(path, '.'); dot > 0 {
		path = path[:dot]
	}
	return path
}

// Warnings are those of all sets, with the name of the file where there are
// several.
func Warnings(sets []*Set) (list []string) {
	for _, s := range sets {
		for _, w := range s.Warnings {
			if len(sets) > 1 {
				w = s.Name + ": " + w
			}
			list = append(list, w)
		}
	}
	return list
}
