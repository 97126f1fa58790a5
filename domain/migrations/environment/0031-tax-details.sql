-- Customers who are asked for their taxes may say how they are called, business or not.
-- Written by: control-plane.

alter table customer_tax_details add column customer_name text;
