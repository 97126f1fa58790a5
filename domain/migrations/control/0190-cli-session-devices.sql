-- The user who approves a CLI session sees which device asks for the key. Null: the client sent no User-Agent header.
alter table cli_sessions add column device text;
