-- The language of a hosted page can be chosen when its session is created, and customers name an e-mail address for invoices.
-- Written by: control-plane.

-- A language with or without a region, such as `pt-BR`; null: the language of the browser.
alter table customer_sessions add column locale text;
alter table checkout_sessions add column locale text;

-- Where the customer wants its invoices to be addressed; null: the customer's own address.
alter table customer_tax_details add column email text;
