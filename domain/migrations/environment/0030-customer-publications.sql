-- Counts the publications of each customer's entries, apart from the customer: a row of three columns is raised in a quarter
-- of the time of one with eight indexes and an audit trigger.
-- Written by: control-plane, with the customer's row locked, so that of two publishers the later one, which has seen at least
-- as much, wins in the hot state.

create table customer_publications (
  provider_id text not null,
  customer_ref text not null,
  version bigint not null,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
) with (fillfactor = 50);

insert into customer_publications
select provider_id, reference, publication_version from customers where publication_version > 0;

-- `customers.publication_version` stays for services of the release before, which draw from the same sequence.
