package reader

import "fleetaudit.dev/child/wire"

// Tags of events on the wire.
const (
	tagObject   = 1
	tagNotice   = 2
	tagProblem  = 3
	tagFileDone = 4
)

// objectEvent is one Kubernetes object.
type objectEvent struct {
	token                         int64
	document, line                int
	item                          string
	group, version, kind          string
	namespace, name, generateName string
	ownerKind, ownerName          string
	digest                        string
	unknown                       [][]any
	faults                        []fault
	duplicates                    []duplicate
	redactions                    []redaction
	projection, raw               []byte
}

// events collects encoded events of one task.
type events struct {
	encoded   []byte
	count     int
	documents int // objects, things that are no objects, and problems; empty documents are not counted
}

func (e *events) start(tag, fields int) {
	e.count++
	e.encoded = wire.AppendArray(e.encoded, fields+1)
	e.encoded = wire.AppendInt(e.encoded, int64(tag))
}

func (e *events) integer(n int)    { e.encoded = wire.AppendInt(e.encoded, int64(n)) }
func (e *events) text(s string)    { e.encoded = wire.AppendString(e.encoded, s) }
func (e *events) list(n int)       { e.encoded = wire.AppendArray(e.encoded, n) }
func (e *events) path(path []any)  { e.encoded = wire.AppendPath(e.encoded, path) }
func (e *events) bytes(raw []byte) { e.encoded = wire.AppendBytes(e.encoded, raw) }
func (e *events) token(t int64)    { e.encoded = wire.AppendInt(e.encoded, t) }

func (e *events) object(o *objectEvent) {
	e.documents++
	e.start(tagObject, 19)
	e.token(o.token)
	e.integer(o.document)
	e.text(o.item)
	e.integer(o.line)
	for _, s := range []string{
		o.group, o.version, o.kind, o.namespace, o.name, o.generateName, o.ownerKind, o.ownerName, o.digest,
	} {
		e.text(s)
	}
	e.list(len(o.unknown))
	for _, path := range o.unknown {
		e.path(path)
	}
	e.list(len(o.faults))
	for _, f := range o.faults {
		e.list(3)
		e.path(f.path)
		e.text(f.expected)
		e.text(f.found)
	}
	e.list(len(o.duplicates))
	for _, d := range o.duplicates {
		e.list(3)
		e.text(d.key)
		e.path(d.path)
		e.list(len(d.lines))
		for _, line := range d.lines {
			e.integer(line)
		}
	}
	e.list(len(o.redactions))
	for _, r := range o.redactions {
		e.list(2)
		e.path(r.path)
		e.text(r.reason)
	}
	e.bytes(o.projection)
	e.bytes(o.raw)
}

func (e *events) notice(token int64, document, line int, item, code, message string) {
	if code != noticeEmpty && code != noticeEmptyList {
		e.documents++
	}
	e.start(tagNotice, 6)
	e.token(token)
	e.integer(document)
	e.integer(line)
	e.text(item)
	e.text(code)
	e.text(message)
}

func (e *events) problem(token int64, document int, p *problem) {
	e.documents++
	e.start(tagProblem, 5)
	e.token(token)
	e.integer(document)
	e.integer(p.line)
	e.text(p.code)
	e.text(p.message)
}

func (e *events) fileDone(token int64, digest string, documents int, p *problem) {
	e.start(tagFileDone, 4)
	e.token(token)
	e.text(digest)
	e.integer(documents)
	if p == nil {
		e.encoded = wire.AppendNil(e.encoded)
		return
	}
	e.list(3)
	e.text(p.code)
	e.text(p.message)
	e.integer(p.line)
}
