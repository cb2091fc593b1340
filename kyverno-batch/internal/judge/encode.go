package judge

import "fleetaudit.dev/child/wire"

// appendAnswer writes [uid, rows, losses] with rows [policy, rule, result, message, exceptions] and losses
// [place, code, reason].
func appendAnswer(b []byte, found answer) []byte {
	b = wire.AppendArray(b, 3)
	b = wire.AppendString(b, found.uid)
	b = wire.AppendArray(b, len(found.rows))
	for _, one := range found.rows {
		b = wire.AppendArray(b, 5)
		for _, text := range []string{one.policy, one.rule, one.result, one.message, one.exceptions} {
			b = wire.AppendString(b, text)
		}
	}
	b = wire.AppendArray(b, len(found.losses))
	for _, one := range found.losses {
		b = wire.AppendArray(b, 3)
		b = wire.AppendInt(b, int64(one.place))
		b = wire.AppendString(b, one.code)
		b = wire.AppendString(b, one.reason)
	}
	return b
}

// appendAbandoned ends a batch: how many pairs run on although nobody waits for them.
func appendAbandoned(b []byte, number int) []byte { return wire.AppendInt(b, int64(number)) }
