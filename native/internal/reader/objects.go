package reader

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"fleetaudit.dev/native/internal/tree"
)

// reading turns one document into events.
type reading struct {
	token  int64
	doc    *document
	config *Config
	events *events
}

// read appends everything that one chunk holds.
func read(c chunk, token int64, config *Config, out *events) {
	if c.hidden {
		out.problem(token, c.number, &problem{
			codeHiddenDocument, "Kubernetes' reader stops before this document; separate it by a line that holds only ---", contentLine(c),
		})
		return
	}
	if isEmptyDocument(c.text) && !invalidText(c.text) {
		out.notice(token, c.number, c.line, "", noticeEmpty, "the document is empty")
		return
	}
	doc, failed := parse(c, config.Limits)
	if failed != nil {
		out.problem(token, c.number, failed)
		return
	}
	r := reading{token, doc, config, out}
	r.top()
}

func invalidText(text string) bool { return invalidUTF8(text) >= 0 }

func (r *reading) top() {
	root := &r.doc.root
	line := contentLine(r.doc.chunk)
	switch root.Kind {
	case tree.Null:
		r.notice(line, "", noticeEmpty, "the document is empty")
	case tree.Object:
		r.mapping(root, "", nil, line, origin{})
	case tree.Array:
		r.items(root, "", nil, line, origin{})
	default:
		r.notice(line, "", noticeNotMapping, "the document is a single value, no mapping")
	}
}

func (r *reading) notice(line int, item, code, message string) {
	r.events.notice(r.token, r.doc.number, line, item, code, message)
}

// origin is what items of a typed list inherit when they leave it out.
type origin struct {
	apiVersion, kind string
}

const maxListDepth = 20

// mapping handles an object, or a list of objects that is one itself.
func (r *reading) mapping(value *tree.Value, item string, path []any, line int, from origin) {
	apiVersion, kind := value.Get("apiVersion"), value.Get("kind")
	if !kind.IsText() && !apiVersion.IsText() && from.kind != "" {
		value.Set("apiVersion", tree.StringOf(from.apiVersion))
		value.Set("kind", tree.StringOf(from.kind))
		apiVersion, kind = value.Get("apiVersion"), value.Get("kind")
	}
	if !kind.IsText() || kind.Text == "" || !apiVersion.IsText() || apiVersion.Text == "" {
		if item != "" {
			r.notice(line, item, noticeItemNoThing, "the list item has no apiVersion and kind")
		} else if r.isTemplate(value) {
			r.templated(line)
		} else {
			r.notice(line, item, noticeNotObject, "the document has no apiVersion and kind")
		}
		return
	}
	items := value.Get("items")
	if isList(kind.Text, items) && len(path) < 2*maxListDepth {
		switch items.Kind {
		case tree.Array:
			inherited := origin{}
			if kind.Text != "List" {
				inherited = origin{apiVersion.Text, strings.TrimSuffix(kind.Text, "List")}
			}
			r.listDuplicates(path, items)
			r.items(items, dotted(item, "items"), extend(path, "items"), line, inherited)
			return
		case tree.Null:
			r.notice(line, item, noticeEmptyList, "the list has no items")
			return
		}
	}
	if kind.Text == "List" && apiVersion.Text == "v1" && items == nil {
		r.notice(line, item, noticeEmptyList, "the list has no items")
		return
	}
	r.object(value, item, path, line)
}

// isList says whether an object of this kind stands for its items. A kind of somebody's own that only sounds like a list,
// with items that are no mappings, is an object.
func isList(kind string, items *tree.Value) bool {
	if !strings.HasSuffix(kind, "List") || items == nil {
		return false
	}
	if kind == "List" || items.Kind != tree.Array || len(items.Items) == 0 {
		return items.Kind == tree.Array || items.Kind == tree.Null
	}
	for i := range items.Items {
		if items.Items[i].Kind == tree.Object {
			return true
		}
	}
	return false
}

func dotted(item, field string) string {
	if item == "" {
		return field
	}
	return item + "." + field
}

func (r *reading) items(list *tree.Value, item string, path []any, line int, from origin) {
	if len(list.Items) == 0 {
		r.notice(line, strings.TrimSuffix(item, "items"), noticeEmptyList, "the list has no items")
		return
	}
	var at *yaml.Node
	if nodes := r.doc.nodes(); nodes != nil {
		at = descend(nodes, path)
	}
	for i := range list.Items {
		value := &list.Items[i]
		itemLine := line
		if at != nil && at.Kind == yaml.SequenceNode && i < len(at.Content) {
			itemLine = r.doc.line + at.Content[i].Line - 1
		}
		name := fmt.Sprintf("%s[%d]", item, i)
		if value.Kind != tree.Object {
			r.notice(itemLine, name, noticeItemNoThing, "the list item is no mapping")
			continue
		}
		r.mapping(value, name, extend(path, i), itemLine, from)
	}
}

// listDuplicates reports keys that a list object itself holds twice: with two items, objects are lost.
func (r *reading) listDuplicates(path []any, items *tree.Value) {
	if !r.doc.duplicates {
		return
	}
	nodes := r.doc.nodes()
	if nodes == nil {
		return
	}
	list := descend(nodes, path)
	_, within := member(list, "items")
	for _, d := range duplicatesIn(list, r.doc.line, follow(within)) {
		r.events.problem(r.token, r.doc.number, &problem{
			codeDuplicateInList,
			fmt.Sprintf("the list holds the key %q at lines %s; only the last one is read", d.key, joinLines(d.lines)),
			d.lines[0],
		})
	}
}

func joinLines(lines []int) string {
	text := make([]string, len(lines))
	for i, line := range lines {
		text[i] = fmt.Sprint(line)
	}
	return strings.Join(text, " and ")
}

func (r *reading) isTemplate(value *tree.Value) bool {
	return r.doc.text != "" && hasTemplateMarkup(r.doc.text) && identityIsTemplated(value)
}

func (r *reading) templated(line int) {
	r.events.problem(r.token, r.doc.number, &problem{codeTemplateMarkup, notRendered, line})
}

// identityIsTemplated says whether what names the object is still a template.
func identityIsTemplated(value *tree.Value) bool {
	meta := value.Get("metadata")
	for _, v := range []*tree.Value{value.Get("apiVersion"), value.Get("kind"), meta.Get("name"), meta.Get("namespace")} {
		if v.IsText() && strings.Contains(v.Text, "{{") {
			return true
		}
	}
	for i := range value.Members {
		if strings.Contains(value.Members[i].Key, "{{") {
			return true
		}
	}
	return false
}

// object reports one Kubernetes object.
func (r *reading) object(value *tree.Value, item string, path []any, line int) {
	if identityIsTemplated(value) {
		r.templated(line)
		return
	}
	o := objectEvent{token: r.token, document: r.doc.number, item: item, line: line}
	o.group, o.version = cutAPIVersion(value.Get("apiVersion").Text)
	o.kind = value.Get("kind").Text
	meta := value.Get("metadata")
	o.name, o.namespace, o.generateName = scalar(meta.Get("name")), scalar(meta.Get("namespace")), scalar(meta.Get("generateName"))
	o.ownerKind, o.ownerName = controller(meta.Get("ownerReferences"))
	if r.doc.duplicates {
		if nodes := r.doc.nodes(); nodes != nil {
			o.duplicates = duplicatesIn(descend(nodes, path), r.doc.line, nil)
		}
	}
	key := o.kind
	if o.group != "" {
		key = o.group + "/" + o.kind
	}
	o.redactions = redact(value, o.group, o.kind)
	if !keptForHistory[key] {
		o.unknown = unknownTemplates(value, o.group, r.config.judged[key])
	}
	o.faults = faultsIn(value, o.group, r.config.PodTemplates[key])
	o.raw = tree.Append(make([]byte, 0, 1024), value)
	sum := sha256.Sum256(o.raw)
	o.digest = hex.EncodeToString(sum[:])
	fields, wanted := r.config.Projections[key]
	if !wanted { // kinds that each cluster makes, as the constraints of Gatekeeper, are asked for by their group
		fields, wanted = r.config.Projections[o.group+"/*"]
	}
	if wanted {
		projected := project(value, fields)
		o.projection = tree.Append(nil, &projected)
	}
	r.events.object(&o)
}

func cutAPIVersion(text string) (group, version string) {
	if group, version, found := strings.Cut(text, "/"); found {
		return group, version
	}
	return "", text
}

// scalar is the text of a name, also of one that was written as a number.
func scalar(v *tree.Value) string {
	if v == nil || v.Kind != tree.String && v.Kind != tree.Number && v.Kind != tree.Bool {
		return ""
	}
	if v.Kind == tree.Bool {
		return fmt.Sprint(v.Truth)
	}
	return v.Text
}

// controller is the owner that manages an object, if any.
func controller(references *tree.Value) (kind, name string) {
	if references == nil || references.Kind != tree.Array {
		return "", ""
	}
	for i := range references.Items {
		one := &references.Items[i]
		if is := one.Get("controller"); is != nil && is.Truth {
			return one.Get("kind").TextOr(""), one.Get("name").TextOr("")
		}
	}
	return "", ""
}
