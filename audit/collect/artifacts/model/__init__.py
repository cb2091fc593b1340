"""Model files and folders: what loading them would run, whether their headers are sound, and what their owners say of them.

Nothing here loads a model. Pickles are read opcode by opcode in a process of their own.
"""
