package wire

import (
	"encoding/binary"
	"errors"
)

// ErrShort is returned when a batch ends inside a field.
var ErrShort = errors.New("batch ends inside a field")

// Fields walks the length-prefixed fields of a batch without copying them.
type Fields struct {
	rest []byte
	err  error
}

// NewFields walks a payload.
func NewFields(payload []byte) *Fields { return &Fields{rest: payload} }

// Uint32 reads a big-endian u32.
func (f *Fields) Uint32() uint32 {
	if f.err != nil || len(f.rest) < 4 {
		f.fail()
		return 0
	}
	n := binary.BigEndian.Uint32(f.rest)
	f.rest = f.rest[4:]
	return n
}

// Bytes reads a field preceded by its u32 length.
func (f *Fields) Bytes() []byte {
	n := int(f.Uint32())
	if f.err != nil || n > len(f.rest) {
		f.fail()
		return nil
	}
	field := f.rest[:n:n]
	f.rest = f.rest[n:]
	return field
}

// Count reads a number of elements, each at least size bytes long, and refuses one that cannot be true.
func (f *Fields) Count(size int) int {
	n := int(f.Uint32())
	if f.err != nil || n > len(f.rest)/size {
		f.fail()
		return 0
	}
	return n
}

// End reports a short payload, or bytes left over.
func (f *Fields) End() error {
	if f.err == nil && len(f.rest) != 0 {
		return errors.New("batch has bytes after its last field")
	}
	return f.err
}

func (f *Fields) fail() {
	f.err = ErrShort
	f.rest = nil
}
