"""The command line: one file per sub-command. Nothing else imports this package."""
