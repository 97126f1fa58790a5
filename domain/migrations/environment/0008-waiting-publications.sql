-- Hundreds of thousands of publications wait after a loss of the hot state, and are worked off in their order, kind by kind.

create index publications_waiting on publications (kind, id);
