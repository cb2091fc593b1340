# METADATA
# title: What OpenVEX documents say about a finding
# description: |
#   answered(finding, subject, authors): does a statement take it away? Its author must be among those who are believed; nobody is when
#   none is named. It must name the vulnerability, say not_affected with a justification or fixed, and name the product: the artifact that was scanned (by digest or by a name that the report gives), or the
#   package itself. With subcomponents, the artifact and the package must both be named. A package URL without a version stands for all.
package lib.vex

import data.lib.evidence
import data.lib.object as fields

statements := [statement |
	some document in fields.everywhere("artifacts.fleetaudit.dev/VexDocument")
	some one in fields.list(document, ["spec", "statements"])
	statement := object.union(one, {"author": fields.text(document, ["spec", "author"])})
]

answered(finding, subject, authors) if {
	some statement in statements
	fields.text(finding, ["id"]) in fields.list(statement, ["vulnerabilities"])
	takes_away(statement)
	evidence.fits(statement.author, authors)
	some product in fields.list(statement, ["products"])
	about(product, finding, subject)
} else := false

takes_away(statement) if statement.status == "fixed"

takes_away(statement) if {
	statement.status == "not_affected"
	fields.text(statement, ["justification"]) != ""
}

about(product, finding, _) if {
	count(fields.list(product, ["subcomponents"])) == 0
	some id in fields.list(product, ["ids"])
	names_package(id, finding)
}

about(product, _, subject) if {
	count(fields.list(product, ["subcomponents"])) == 0
	some id in fields.list(product, ["ids"])
	names_artifact(id, subject)
}

about(product, finding, subject) if {
	some id in fields.list(product, ["ids"])
	names_artifact(id, subject)
	some inner in fields.list(product, ["subcomponents"])
	names_package(inner, finding)
}

names_package(id, finding) if {
	purl := plain(fields.text(finding, ["purl"]))
	purl != ""
	stands_for(plain(id), purl)
}

stands_for(id, purl) if id == purl

stands_for(id, purl) if startswith(purl, sprintf("%s@", [id]))

# Without qualifiers and subpath.
plain(purl) := split(split(purl, "?")[0], "#")[0]

names_artifact(id, subject) if {
	some digest in fields.list(subject, ["images"])
	contains(replace(id, "%3A", ":"), digest)
}

names_artifact(id, subject) if {
	some reference in array.concat(fields.list(subject, ["references"]), [fields.text(subject, ["name"])])
	reference != ""
	id == reference
}
