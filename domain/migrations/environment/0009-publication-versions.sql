-- A version that was drawn for a publication is never drawn again, also when its transaction was rolled back: what it sent
-- may reach the hot state late, and must not pass for what somebody else sent after it.

create sequence publication_versions;
select setval('publication_versions', (select coalesce(max(publication_version), 0) + 1 from customers));
