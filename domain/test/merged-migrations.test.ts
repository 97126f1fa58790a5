import { readFile } from 'node:fs/promises'
import { migratePostgres } from '@tollgate/platform/database/postgres/migrations'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'

/* Development installations from before the migrations were merged continue with the merged migrations. */

const schemas = { control: 'control', sandbox: 'environment', live: 'environment' } as const

let testDatabase: TestDatabase
let sql: Sql

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  sql = postgres(testDatabase.url, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql.end()
  await testDatabase.stop()
})

async function namesOf(folder: string): Promise<{ replaced: string[]; by: string[] }> {
  const text = await readFile(`${migrationsFolder}/${folder}/merged/names.json`, 'utf8')
  return JSON.parse(text) as { replaced: string[]; by: string[] }
}

async function readApplied(schema: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from ${sql(schema)}.schema_migrations order by name`
  return rows.map(({ name }) => name)
}

async function readColumns(): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select table_schema || '.' || table_name || '.' || column_name as name
    from information_schema.columns where table_schema in ${sql(Object.keys(schemas))}
    order by 1`
  return rows.map(({ name }) => name)
}

/** Changes the schemas to the state that the replaced migrations had left, with a trigger on a column that no longer exists. */
async function goBack(): Promise<void> {
  for (const [schema, folder] of Object.entries(schemas)) {
    const { replaced } = await namesOf(folder)
    await sql`delete from ${sql(schema)}.schema_migrations`
    await sql`
      insert into ${sql(schema)}.schema_migrations (name) select unnest(${replaced}::text[])`
    // Later migrations, which are applied after the merged ones.
    if (schema === 'control') {
      await sql`drop table control.console_identities`
      continue
    }
    await sql.unsafe(`
      drop table ${schema}.usage_correction_changes, ${schema}.usage_corrections, ${schema}.corrected_periods;
      drop table ${schema}.customer_overrides;
      drop table ${schema}.alerts, ${schema}.budgets, ${schema}.spend_readings, ${schema}.alert_positions,
        ${schema}.alert_checks, ${schema}.alert_firings;
      drop table ${schema}.pack_claims, ${schema}.pack_uses, ${schema}.packs, ${schema}.pack_accounts;
      drop table ${schema}.threshold_crossings;
      drop table ${schema}.discounted_periods, ${schema}.coupon_holds, ${schema}.discounts, ${schema}.coupons;
      alter table ${schema}.payment_intents drop column discounts;
      alter table ${schema}.checkout_sessions drop column coupon_ref;
      drop table ${schema}.email_settings, ${schema}.emails, ${schema}.email_suppressions;
      alter table ${schema}.customers drop column locale;
      alter table ${schema}.inbox_messages drop column html, drop column attachment_name, drop column attachment;
      alter table ${schema}.customer_links drop column is_reusable,
        drop constraint customer_links_check, alter column product_ref set not null;
      alter table ${schema}.credit_grants drop column is_expiry_announced;
      drop function ${schema}.wake_credit_schedules() cascade;
      drop table ${schema}.credit_schedule_grants, ${schema}.credit_schedules;
      drop index ${schema}.credit_take_backs_short;
      alter table ${schema}.credit_take_backs drop column grants_up_to_id, drop column retakes;
      alter table ${schema}.customers drop column test_clock_ref;
      drop table ${schema}.test_clocks;
      drop function ${schema}.due_in_real_time() cascade;
      drop index ${schema}.credit_grants_expiring_of_customer;
      alter table ${schema}.outbox drop column recorded_at;
      alter table ${schema}.webhook_deliveries drop column recorded_at;
      drop table ${schema}.tax_services;
      drop table ${schema}.add_ons;
      drop table ${schema}.plan_migration_items, ${schema}.plan_migrations;
      alter table ${schema}.purchases drop column scheduled_terms_at, drop column terms_at;
      alter table ${schema}.purchases drop column scheduled_plan_billing, drop column scheduled_migration,
        drop column is_scheduled_by_provider, drop column first_paid;
      drop table ${schema}.tax_id_checks;
      drop index ${schema}.customer_tax_details_by_tax_id;
      alter table ${schema}.customer_tax_details drop column region;
      alter table ${schema}.merchants drop column default_tax_country, drop column default_tax_region,
        drop column default_tax_behavior;
      drop table ${schema}.invoice_decisions, ${schema}.requested_refunds, ${schema}.invoice_items,
        ${schema}.balance_payouts;
      alter table ${schema}.invoices drop column due_at;
      alter table ${schema}.payment_refunds drop column from_balance;
      alter table ${schema}.carried_amounts drop column held;
      alter table ${schema}.payment_intents drop constraint payment_intents_original_amount_check;
      alter table ${schema}.payment_intents drop column balance_part,
        alter column processor_customer_id set not null,
        add constraint payment_intents_original_amount_check check (original_amount > 0);
      alter table ${schema}.purchases drop column usage_billed_to, drop column unbilled_raised_from,
        drop column unbilled_raised_micros;
      drop index ${schema}.purchases_billed_at_threshold;
      drop index ${schema}.purchases_one_with_access;
      alter table ${schema}.purchases drop column is_pack;
      create unique index purchases_one_with_access
        on ${schema}.purchases (provider_id, customer_ref, product_ref)
        where plan_ref is not null and status in ('active', 'trialing', 'past_due')`)
    await sql.unsafe(`
      drop index ${schema}.payment_intents_received, ${schema}.payment_refunds_of_provider,
        ${schema}.payment_disputes_of_provider, ${schema}.credit_grants_bought,
        ${schema}.credit_take_backs_of_provider, ${schema}.invoices_failing;
      alter table ${schema}.purchases drop column period_price, drop column period_days, drop column has_ramp;
      drop function ${schema}.plan_period_price`)
    await sql.unsafe(`
      drop table ${schema}.meter_versions;
      alter table ${schema}.meters drop column reading, drop column version, drop column version_since`)
    await sql.unsafe(`
      alter table ${schema}.products
        add column balance bigint not null default 0,
        add column total_transactions bigint not null default 0;
      alter table ${schema}.customers add column publication_version bigint not null default 0;
      drop trigger audited on ${schema}.customers;
      create trigger audited after insert or update or delete on ${schema}.customers
        for each row execute function ${schema}.audit_row('reference', 'publication_version')`)
  }
}

test('an installation with all replaced migrations has the tables of the merged migrations', async () => {
  const columns = await readColumns()
  await goBack()
  expect(await readColumns()).not.toEqual(columns)
  await migratePostgres({ url: testDatabase.url, folder: migrationsFolder })
  for (const [schema, folder] of Object.entries(schemas)) {
    expect(await readApplied(schema)).toEqual(expect.arrayContaining((await namesOf(folder)).by))
    expect(await readApplied(schema)).not.toContain('0001-catalog.sql')
  }
  expect(await readColumns()).toEqual(columns)
  const triggers = await sql`
    select from pg_trigger where tgrelid = 'sandbox.customers'::regclass and tgname = 'audited'
      and pg_get_triggerdef(oid) like '%publication_version%'`
  expect(triggers).toHaveLength(0)
})

test('refuses an installation that lacks one of the replaced migrations, and does not change it', async () => {
  await goBack()
  await sql`delete from sandbox.schema_migrations where name = '0219-attempts-of-mailboxes.sql'`
  const columns = await readColumns()
  await expect(
    migratePostgres({ url: testDatabase.url, folder: migrationsFolder }),
  ).rejects.toThrow(
    'The PostgreSQL schema sandbox was written by a development version that lacks 0219-attempts-of-mailboxes.sql.',
  )
  expect(await readColumns()).toEqual(columns)
  expect(await readApplied('sandbox')).toContain('0218-ended-sign-ins-audited.sql')
  // The commit that the error names refuses a schema with the merged migrations.
  expect(await readApplied('control')).toEqual((await namesOf('control')).replaced)
})
