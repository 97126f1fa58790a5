-- Changes of plan that the provider schedules: of one purchase, and of all holders of a plan.
-- Written by: control-plane creates migrations and pauses them, billing-runner moves their purchases. Both schedule changes.

alter table purchases
  -- How a change to `scheduled_plan` is billed that takes effect at `scheduled_plan_at`, within the running period.
  -- Null: it takes effect with the first renewal from `scheduled_plan_at` on.
  add column scheduled_plan_billing text check (scheduled_plan_billing in ('prorate', 'keep_period')),
  -- The migration that scheduled the change. Null: the customer chose it, or the provider for this purchase.
  add column scheduled_migration text;

create index purchases_by_scheduled_change on purchases (scheduled_plan_at)
  where scheduled_plan_billing is not null and status = 'active';

create table plan_migrations (
  provider_id text not null,
  reference text not null unique,
  product_ref text not null,
  -- The plan whose holders are moved.
  plan_ref text not null,
  -- The terms to which they move, as they were when the migration was created, without a set-up fee.
  target jsonb not null,
  -- How a change within the running period is billed. Null: each change takes effect with a renewal.
  billing text check (billing in ('prorate', 'keep_period')),
  -- Days from the notice to the change. Null: customers get no notice.
  notice_days integer check (notice_days >= 0),
  -- The only purchases or customers that are moved. Null: all.
  purchase_refs text[],
  customer_refs text[],
  -- `running`: purchases are being scheduled. `done`: every purchase is scheduled or skipped. `cancelling`: the changes that have
  -- not taken effect are being withdrawn.
  status text not null check (status in ('running', 'paused', 'done', 'cancelling', 'cancelled')),
  -- Purchases are processed in the order of their references. All up to this one are done. Null: none.
  processed_to text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference),
  foreign key (provider_id, product_ref) references products (provider_id, reference)
);

create index plan_migrations_of_plan on plan_migrations (provider_id, plan_ref, created_at desc);
create unique index plan_migrations_one_at_a_time on plan_migrations (provider_id, plan_ref)
  where status in ('running', 'paused', 'cancelling');
create index plan_migrations_due on plan_migrations (updated_at) where status in ('running', 'cancelling');

create trigger audited after insert or update or delete on plan_migrations
  for each row execute function audit_row('reference', 'processed_to');

-- The purchases that a migration has processed, each once: the row is inserted in the transaction that schedules the change.
create table plan_migration_items (
  provider_id text not null,
  migration_ref text not null,
  purchase_ref text not null,
  customer_ref text not null,
  status text not null check (status in ('scheduled', 'moved', 'skipped', 'withdrawn')),
  -- Why the purchase was skipped.
  reason text check ((status = 'skipped') = (reason is not null)),
  -- When the change takes effect, or took effect.
  effective_at timestamptz,
  -- The purchase that replaced this one.
  moved_to text check ((status = 'moved') = (moved_to is not null)),
  primary key (provider_id, migration_ref, purchase_ref),
  foreign key (provider_id, migration_ref) references plan_migrations (provider_id, reference)
);
