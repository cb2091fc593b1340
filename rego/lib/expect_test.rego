# METADATA
# scope: package
# title: What rule tests share
# description: Names for a rule's answer, and the shapes a field can take when nothing useful is in it.
package lib.expect

# "skip", "pass" or "fail", as the runner reads a rule's two answers.
outcome(false, _) := "skip"

outcome(true, violations) := "pass" if count(violations) == 0

outcome(true, violations) := "fail" if count(violations) > 0

# The object without the field at the path, and with each value that stands for nothing there.
without(object_, path) := array.concat(
	[json.patch(object_, [{"op": "remove", "path": path}])],
	[json.patch(object_, [{"op": "replace", "path": path, "value": value}]) | some value in [null, "", [], {}]],
)

# The object with another value at the path.
replaced(object_, path, value) := json.patch(object_, [{"op": "add", "path": path, "value": value}])

# Every path to a field or element of the object, itself left out.
paths(object_) := [path | walk(object_, [path, _]); count(path) > 0]

# The object with each of its parts in turn missing, null or of a wrong kind: whatever comes out, a rule must answer.
damaged(object_) := [json.patch(object_, [object.union({"path": path}, change)]) |
	some path in paths(object_)
	some change in array.concat(
		[{"op": "remove"}],
		[{"op": "replace", "value": value} | some value in [null, 7, "text", [null]]],
	)
]
