package lib.address_test

import data.lib.address

block(cidr, except) := {"cidr": cidr, "except": except}

plain(cidrs) := [{"cidr": cidr} | some cidr in cidrs]

test_everything_however_it_is_written if {
	every cidrs in [
		["0.0.0.0/0"],
		["::/0"],
		["0::/0"],
		["10.1.2.3/0"],
		["0.0.0.0/1", "128.0.0.0/1"],
		["0.0.0.0/1", "128.0.0.0/2", "192.0.0.0/2"],
		["::/1", "8000::/1"],
		["10.0.0.0/8", "0.0.0.0/0"],
		["no range", 7, null, "::/0"],
	] {
		address.everything(plain(cidrs))
		address.most(plain(cidrs))
	}
}

test_named_ranges_are_not_everything if {
	every cidrs in [[], ["10.0.0.0/8", "192.168.0.0/16"], ["fd00::/8"], ["203.0.113.7/32"], ["2001:db8::1/128"], ["no range"], [{}]] {
		not address.everything(plain(cidrs))
		not address.most(plain(cidrs))
	}
}

test_token_exceptions_close_nothing if {
	every except in [["169.254.169.254/32"], ["10.0.0.0/24", "10.0.1.0/24"], ["no range"], ["::/0"], "10.0.0.0/8", [7], null] {
		address.everything([block("0.0.0.0/0", except)])
	}
	address.everything([block("::/0", ["fd00::1/128"])])
}

test_a_network_taken_out_is_no_longer_everything_but_most if {
	every blocks in [
		[block("0.0.0.0/0", ["10.0.0.0/8"])],
		[block("0.0.0.0/0", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"])],
		[block("0.0.0.0/0", ["192.168.0.0/16"])],
		[block("0.0.0.0/1", ["10.0.0.0/8"]), block("128.0.0.0/1", [])],
		[block("::/0", ["fc00::/7"])],
	] {
		not address.everything(blocks)
		address.most(blocks)
	}
}

test_half_taken_out_is_not_most if {
	not address.most([block("0.0.0.0/0", ["0.0.0.0/1", "128.0.0.0/8"])])
	not address.most([block("0.0.0.0/0", ["0.0.0.0/0"])])
}

test_what_is_let_in_again_is_not_taken_out if {
	every blocks in [
		[block("0.0.0.0/0", ["10.0.0.0/8"]), block("10.0.0.0/8", [])],
		[block("0.0.0.0/0", ["10.0.0.0/8"]), block("10.0.0.0/9", []), block("10.128.0.0/9", [])],
		[block("0.0.0.0/0", ["10.0.0.0/8"]), block("0.0.0.0/0", ["192.168.0.0/16"])],
	] {
		address.everything(blocks)
	}
	not address.everything([block("0.0.0.0/0", ["10.0.0.0/8"]), block("0.0.0.0/0", ["10.0.0.0/8"])])
}
