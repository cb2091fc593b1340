# METADATA
# scope: package
# title: How much of the address space ranges leave open
# description: |
#   Address ranges can be written in many ways: 0.0.0.0/0 as two halves, with single addresses taken out, or taken out and let
#   in again by another range. What counts is how many addresses remain. A block is {"cidr", "except"}; what is no range is left
#   out, the server refuses it. IPv4 is counted in addresses, IPv6 in networks of 64 bits.
package lib.address

import data.lib.object as obj

# What the blocks leave out is smaller than one network (an IPv4 /16, an IPv6 /48): an exception in name only.
everything(blocks) if {
	count(blocks) > 0
	some family, room in open(blocks)
	sizes[family] - room < token
} else := false

# At least half of all addresses remain, whatever is taken out: the Internet is inside.
most(blocks) if {
	count(blocks) > 0
	some family, room in open(blocks)
	room * 2 >= sizes[family]
} else := false

valid(cidr) if {
	is_string(cidr)
	net.cidr_is_valid(cidr)
} else := false

sizes := {"ipv4": 4294967296, "ipv6": 18446744073709551616}

# 2^16: addresses of an IPv4 /16, 64-bit networks of an IPv6 /48.
token := 65536

# Per family, what is in some block and not taken out again.
open(blocks) := rooms if {
	merged := net.cidr_merge([block.cidr | some block in blocks; valid(block.cidr)])
	taken := net.cidr_merge([except |
		some index, block in blocks
		valid(block.cidr)
		some except in obj.list(block, ["except"])
		valid(except)
		net.cidr_contains(block.cidr, except)
		not let_in_again(blocks, index, except)
	])
	rooms := {family: room |
		some family, _ in sizes
		room := size(merged, family) - size(taken, family)
	}
}

# Another block, or several without exceptions together, hold what this one takes out.
let_in_again(blocks, index, except) if {
	some other, block in blocks
	other != index
	valid(block.cidr)
	net.cidr_contains(block.cidr, except)
	covering := [1 | some hole in obj.list(block, ["except"]); valid(hole); net.cidr_contains(hole, except)]
	count(covering) == 0
} else if {
	whole := net.cidr_merge([block.cidr |
		some block in blocks
		valid(block.cidr)
		count(obj.list(block, ["except"])) == 0
	])
	some range in whole
	net.cidr_contains(range, except)
} else := false

size(ranges, family) := sum([bits.lsh(1, widths[family] - prefix) |
	some range in ranges
	family_of(range) == family
	prefix := to_number(split(range, "/")[1])
	prefix <= widths[family]
])

widths := {"ipv4": 32, "ipv6": 64}

family_of(range) := "ipv6" if {
	contains(range, ":")
} else := "ipv4"
