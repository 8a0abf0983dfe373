-- Most views and refreshes call the function for every row. Postgres puts the body of a function into the statement only if
-- the function is not declared strict, and a call costs several times what the body does. Null still gives null.
alter function reporting.without_addresses(text) called on null input;
