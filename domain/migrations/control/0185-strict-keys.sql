-- Keys whose requests are refused if they have a name that the operation does not know. Keys from before only get a warning.
-- Written by: control-plane.

alter table api_keys add column is_strict boolean not null default false;
