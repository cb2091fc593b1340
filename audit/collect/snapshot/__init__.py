"""A cluster's objects in files: collected once with the rights of whoever may read it, judged anywhere, any number of times.

`form` is what a snapshot consists of, `storage` where it lies, `writing` and `reading` are the two directions, `signing` says
who made it. See ``docs/snapshots.md``.
"""
