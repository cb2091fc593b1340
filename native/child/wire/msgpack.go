package wire

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"
)

// The few MessagePack forms the answers need, appended to a buffer without reflection.

// AppendArray starts an array of n elements.
func AppendArray(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, 0x90|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xdc), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, 0xdd), uint32(n))
	}
}

// AppendMap starts a map of n pairs.
func AppendMap(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, 0x80|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xde), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, 0xdf), uint32(n))
	}
}

// AppendString appends text. Rules can make strings that are no UTF-8; those bytes become replacement characters.
func AppendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	n := len(s)
	switch {
	case n < 32:
		b = append(b, 0xa0|byte(n))
	case n <= math.MaxUint8:
		b = append(b, 0xd9, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, 0xda), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, 0xdb), uint32(n))
	}
	return append(b, s...)
}

// AppendBytes appends raw bytes.
func AppendBytes(b, raw []byte) []byte {
	n := len(raw)
	switch {
	case n <= math.MaxUint8:
		b = append(b, 0xc4, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, 0xc5), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, 0xc6), uint32(n))
	}
	return append(b, raw...)
}

// AppendInt appends a signed integer in its shortest form.
func AppendInt(b []byte, n int64) []byte {
	switch {
	case n >= 0 && n <= math.MaxInt8:
		return append(b, byte(n))
	case n < 0 && n >= -32:
		return append(b, byte(n))
	case n >= math.MinInt32 && n <= math.MaxInt32:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(int32(n)))
	default:
		return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(n))
	}
}

// AppendUint appends an unsigned integer.
func AppendUint(b []byte, n uint64) []byte {
	if n <= math.MaxInt64 {
		return AppendInt(b, int64(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xcf), n)
}

// AppendFloat appends a double.
func AppendFloat(b []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(f))
}

// AppendBool appends true or false.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 0xc3)
	}
	return append(b, 0xc2)
}

// AppendNil appends null.
func AppendNil(b []byte) []byte { return append(b, 0xc0) }

// AppendPath appends a path of strings and ints.
func AppendPath(b []byte, path []any) []byte {
	b = AppendArray(b, len(path))
	for _, segment := range path {
		switch s := segment.(type) {
		case string:
			b = AppendString(b, s)
		case int:
			b = AppendInt(b, int64(s))
		}
	}
	return b
}
