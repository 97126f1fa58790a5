-- The language of a hosted page can be chosen when its session is created.
-- Written by: control-plane.

-- A language with or without a region, such as `pt-BR`; null: the language of the browser.
alter table customer_sessions add column locale text;
alter table checkout_sessions add column locale text;
