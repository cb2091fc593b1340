package lib.network_test

import data.lib.network

policy(rules) := {"metadata": {"name": "p"}, "spec": {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": rules}}

open(rules) if count(network.open_rules(policy(rules), "Ingress")) > 0

named := {"podSelector": {"matchLabels": {"app": "gateway"}}}

block(cidr) := {"ipBlock": {"cidr": cidr}}

test_peers_that_are_everybody if {
	every peers in [
		[],
		null,
		[{"namespaceSelector": {}}],
		[{"namespaceSelector": {}, "podSelector": {}}],
		[{"namespaceSelector": {}, "podSelector": null}],
		[{"namespaceSelector": {"matchLabels": {}, "matchExpressions": []}}],
		[{"namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]}}],
		[{"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["x"]}]}}],
		[{"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}}],
		[{"namespaceSelector": {}, "podSelector": {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}}],
		[named, {"namespaceSelector": {}}],
		[{}],
		[block("0.0.0.0/0")],
		[block("::/0")],
		[block("0.0.0.0/1"), block("128.0.0.0/1")],
		[{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32"]}}],
	] {
		open([{"from": peers}])
		open([{"from": peers, "ports": [{"port": 1, "endPort": 65535}]}])
		not open([{"from": peers, "ports": [{"port": 8000}]}])
	}
}

test_peers_that_are_somebody if {
	every peers in [
		[named],
		[{"podSelector": {}}],
		[{"namespaceSelector": {"matchLabels": {"team": "x"}}}],
		[{"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}}],
		[{"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "In", "values": ["x"]}]}}],
		[{"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "gateway"}}}],
		[block("10.0.0.0/8")],
		[block("0.0.0.0/1")],
		[{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}],
	] {
		not open([{"from": peers}])
	}
}

test_ports_that_are_every_port if {
	every ports in [
		[],
		null,
		[{"protocol": "TCP"}],
		[{}],
		[null],
		[{"protocol": null, "port": null}],
		[{"port": 1, "endPort": 65535}],
		[{"port": 1, "endPort": 65535}, {"protocol": "UDP", "port": 1, "endPort": 65535}, {"protocol": "SCTP", "port": 1, "endPort": 65535}],
		[{"port": 1, "endPort": 32767}, {"port": 32768, "endPort": 65535}],
		[{"port": 20000, "endPort": 65535}, {"port": 1, "endPort": 30000}],
		[{"port": 1024, "endPort": 65535}],
		[{"port": 1, "endPort": 79}, {"port": 81, "endPort": 65535}],
		[{"port": 8000}, {"protocol": "TCP"}],
	] {
		open([{"ports": ports}])
	}
}

test_ports_that_are_some_ports if {
	every ports in [
		[{"port": 8000}],
		[{"port": "http"}],
		[{"protocol": "UDP"}],
		[{"protocol": "UDP", "port": 1, "endPort": 65535}],
		[{"port": 1, "endPort": 32767}],
		[{"port": 30000, "endPort": 32767}, {"port": 443}],
		[{"port": 1, "endPort": 60000}, {"port": 1, "endPort": 60000}],
		[{"port": "http", "endPort": 65535}],
	] {
		not open([{"ports": ports}])
	}
}

test_rules_add_up if {
	open([{"from": [block("0.0.0.0/1")]}, {"from": [block("128.0.0.0/1")]}])
	open([{"ports": [{"port": 1, "endPort": 32767}]}, {"ports": [{"port": 32768, "endPort": 65535}]}])
	not open([{"from": [block("0.0.0.0/1")]}, {"from": [block("128.0.0.0/1")], "ports": [{"port": 443}]}])
	not open([{"ports": [{"port": 1, "endPort": 32767}]}, {"from": [named], "ports": [{"port": 32768, "endPort": 65535}]}])
	[rule.path | some rule in network.open_rules(policy([{"from": [block("::/1")]}, {"from": [block("8000::/1")]}]), "Ingress")] == [["spec", "ingress"]]
}

test_the_internet_opens_wide_whatever_is_excepted if {
	private := ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
	network.opens_wide(policy([{"from": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": private}}]}]), "Ingress")
	not network.opens_wide(policy([{"from": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": private}}], "ports": [{"port": 443}]}]), "Ingress")
	not network.opens_wide(policy([{"from": [block("10.0.0.0/8")]}]), "Ingress")
	not network.opens_wide(policy([{}]), "Egress")
}
