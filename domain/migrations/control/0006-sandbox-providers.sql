-- Everybody has a sandbox. Who is not live yet is refused there, whatever keys there are.
-- Written by: control-plane (its command line).

alter table providers add column is_live boolean not null default true;
