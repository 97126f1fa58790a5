-- The brand that pages and invoices show, and the postal addresses that invoices print.
-- Written by: control-plane.

alter table merchants
  -- The name shown to customers in this environment. Null: the provider's own name.
  add column display_name text check (display_name <> ''),
  -- sRGB in lower case, as in #2f4fd0. Null: the default colour of the pages.
  add column accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
  -- The lines of the address, separated by line feeds, without the country.
  add column address text;

alter table customer_tax_details
  -- As in merchants.
  add column address text;
