package wire

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestIntegerForms(t *testing.T) {
	for n, want := range map[int64][]byte{
		0: {0}, 127: {127}, -1: {0xff}, -32: {0xe0},
		128: {0xd2, 0, 0, 0, 128}, -33: {0xd2, 0xff, 0xff, 0xff, 0xdf},
		math.MaxInt64: {0xd3, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	} {
		if got := AppendInt(nil, n); !bytes.Equal(got, want) {
			t.Errorf("%d: % x, want % x", n, got, want)
		}
	}
	if got := AppendUint(nil, math.MaxUint64); got[0] != 0xcf {
		t.Errorf("largest unsigned: % x", got)
	}
}

func TestLengthForms(t *testing.T) {
	for n, want := range map[int]byte{0: 0xa0, 31: 0xbf, 32: 0xd9, 255: 0xd9, 256: 0xda, 65536: 0xdb} {
		if got := AppendString(nil, strings.Repeat("x", n)); got[0] != want || !bytes.HasSuffix(got, []byte(strings.Repeat("x", n))) {
			t.Errorf("text of %d bytes starts with %x", n, got[0])
		}
	}
	for n, want := range map[int]byte{0: 0xc4, 256: 0xc5, 65536: 0xc6} {
		if got := AppendBytes(nil, make([]byte, n)); got[0] != want {
			t.Errorf("%d bytes start with %x", n, got[0])
		}
	}
	for n, want := range map[int][2]byte{0: {0x90, 0x80}, 16: {0xdc, 0xde}, 65536: {0xdd, 0xdf}} {
		if got := [2]byte{AppendArray(nil, n)[0], AppendMap(nil, n)[0]}; got != want {
			t.Errorf("containers of %d start with % x", n, got)
		}
	}
}
