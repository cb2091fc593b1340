"""Test suites that policies bring along: Kyverno's, Gatekeeper's and OPA's, found, run and told in one way.

What was not looked at is never a pass: a row that no rule answered, a case that its constraint does not match and a test
of something that does not exist are *not evaluated*.
"""
