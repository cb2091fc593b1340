"""One module for each change of the tables. A module that was released is never changed."""
