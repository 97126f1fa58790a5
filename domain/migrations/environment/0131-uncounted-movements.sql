-- How often the money of a dispute had moved is not known of disputes from before 0075: none of them takes access away
-- because it is looked at again.
-- Written by: control-plane and billing-runner.

alter table payment_disputes
  alter column movements drop not null,
  alter column movements drop default;

update payment_disputes set movements = null where movements = 0 and payment_method_id is null;
