import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { environments } from '@tollgate/schemas/environment'
import { findCustomerByEmail } from '../src/customers/repository.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'

/* On a real PostgreSQL: the rows that a request can reach if its statements omit the provider or name another one. */

const schemas = ['control', ...environments] as const
const [ours, theirs] = ['prov_ours', 'prov_theirs']

let postgres: TestDatabase
let owner: Database
let database: Database

beforeAll(async () => {
  postgres = await startTestDatabase(migrationsFolder)
  owner = createPostgresDatabase({ url: postgres.url, isOwner: true, poolMax: 1 })
  database = createPostgresDatabase({ url: postgres.url, poolMax: 1 })
  for (const environment of environments) {
    const sql = owner.in(environment)
    for (const providerId of [ours, theirs]) {
      await sql`
        insert into customers (provider_id, reference, email, status, created_at, updated_at)
        select ${providerId}, ${providerId} || n, 'Ada' || n || '@example.com', 'active', now(), now()
        from generate_series(1, 300) n`
    }
    await sql`analyze customers`
  }
  for (const providerId of [ours, theirs]) {
    await owner.control`
      insert into providers (provider_id, name, default_currency, created_at)
      values (${providerId}, 'Acme', 'USD', now())`
  }
})

afterAll(async () => {
  await database.close()
  await owner.close()
  await postgres.stop()
})

describe('tables', () => {
  type Table = { place: string; of_providers: boolean; is_enforced: boolean; policies: string[] }

  const listTables = () => owner.control<Table[]>`
    select nspname || '.' || relname as place, relrowsecurity and relforcerowsecurity as is_enforced,
      exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'provider_id') as of_providers,
      array(
        select concat_ws(' ', roles, cmd, qual, with_check) from pg_policies
        where schemaname = nspname and tablename = relname order by policyname
      ) as policies
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = any(${[...schemas]}) and relkind in ('r', 'p', 'v', 'm', 'f')`

  test('of providers enforce their policies for every role except superusers', async () => {
    const own = `(provider_id = NULLIF(current_setting('tollgate.provider_id'::text, true), ''::text))`
    const tables = (await listTables()).filter((table) => table.of_providers)
    expect(tables.length).toBeGreaterThan(20)
    for (const table of tables.filter(
      ({ place }) => !/\.(audit_log|audit_seals|ledger_seals)$/.test(place),
    )) {
      expect(table).toMatchObject({
        is_enforced: true,
        policies: ['{tollgate_jobs} ALL true true', `{tollgate_requests} ALL ${own} ${own}`],
      })
    }
  })

  test('of the audit log and seals are append-only, for their owner and the sealing role', async () => {
    const rights = await owner.control`
      select distinct table_name, grantee, privilege_type from information_schema.role_table_grants
      where table_name in ('audit_log', 'audit_seals', 'ledger_seals')
        and grantee in ('tollgate_jobs', 'tollgate_requests', 'PUBLIC')
      order by table_name, grantee, privilege_type`
    expect(rights.map((each) => Object.values(each).join(' '))).toEqual([
      'audit_log tollgate_jobs SELECT',
      'audit_log tollgate_requests SELECT',
      'audit_seals tollgate_jobs INSERT',
      'audit_seals tollgate_jobs SELECT',
      'audit_seals tollgate_requests SELECT',
      'ledger_seals tollgate_jobs INSERT',
      'ledger_seals tollgate_jobs SELECT',
      'ledger_seals tollgate_requests SELECT',
    ])
    const audits = (await listTables()).filter(({ place }) =>
      /\.(audit_log|audit_seals|ledger_seals)$/.test(place),
    )
    expect(audits.map(({ is_enforced: isEnforced }) => isEnforced)).toEqual(Array(8).fill(true))
  })

  test('of providers are audited, or listed as not audited', async () => {
    const tables = await owner.control<{ place: string }[]>`
      select nspname || '.' || relname as place
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = any(${[...schemas]}) and relkind in ('r', 'p')
        and exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'provider_id')
        and not exists (select from pg_trigger where tgrelid = pg_class.oid and tgname = 'audited' and tgenabled = 'O')`
    const known = [
      // The audit log itself.
      ...['audit_log', 'audit_seals'],
      // Derived from a change that is audited.
      ...['outbox', 'publications', 'customer_publications'],
      // Claims and counts of jobs. The changes that jobs make are audited.
      ...['job_claims', 'billing_runs', 'alert_checks', 'threshold_crossings'],
      // What a migration of a plan did with each purchase. The migration and the purchases are audited.
      'plan_migration_items',
      // Derived from a ledger transaction and a schedule, which are audited.
      'credit_schedule_grants',
      // Derived from payments and invoices. Coupons and discounts are audited.
      ...['coupon_holds', 'discounted_periods'],
      // Derived from usage.
      ...['alert_firings', 'spend_readings', 'corrected_periods', 'usage_correction_changes'],
      // Derived from a ledger transaction.
      ...['wallets', 'ledger_entries', 'ledger_seals', 'credit_grants', 'credit_burns'],
      // Requests to the processor for a payment.
      'payment_attempts',
      // Derived from payments, refunds and disputes.
      ...['product_movements', 'product_tallies'],
      // Parts of invoices and credit notes, and amounts that they carry over.
      ...['invoice_lines', 'billed_periods', 'credit_note_lines'],
      ...['document_numbers', 'carried_amounts'],
      // Derived from usage. Packs, and what is claimed back of them, are audited.
      ...['pack_accounts', 'pack_uses'],
      // Reports, which change nothing.
      ...['reconciliations', 'reconciliation_findings'],
      // Deliveries. Requests to replay or erase them are audited.
      ...['webhook_deliveries', 'webhook_attempts', 'answer_erasures'],
      // Activity at the authorization server. Customers and agent clients that it creates are audited.
      ...['oauth_access_tokens', 'oauth_revoked_tokens'],
      ...['customer_sign_ins', 'customer_upstream_sign_ins', 'customer_browser_sessions'],
      'inbox_messages',
    ]
    expect(tables.map(({ place }) => place).sort()).toEqual(
      [
        ...environments.flatMap((environment) => known.map((table) => `${environment}.${table}`)),
        ...['audit_log', 'audit_seals', 'publications', 'cli_session_outcomes'].map(
          (table) => `control.${table}`,
        ),
        // Data of a sign-in for the next one.
        'control.known_browsers',
      ].sort(),
    )
  })

  test('without a provider are listed, and closed to requests', async () => {
    const places = (await listTables()).filter((table) => !table.of_providers)
    const known = [
      'control.moved_from',
      ...schemas.map((schema) => `${schema}.schema_migrations`),
      // Data of people who are not signed in yet.
      'control.sign_in_attempts',
      'control.cli_sessions',
      ...environments.map((environment) => `${environment}.customer_auth_attempts`),
      // Runs of jobs.
      ...schemas.map((schema) => `${schema}.job_slots`),
      // Position in the log by partition.
      ...environments.map((environment) => `${environment}.debit_positions`),
      ...environments.map((environment) => `${environment}.usage_event_positions`),
      ...environments.map((environment) => `${environment}.alert_positions`),
      // An event of the processor names an object, which names its provider.
      ...environments.map((environment) => `${environment}.processor_events`),
      // Position in the processor's list of events.
      ...environments.map((environment) => `${environment}.processor_event_polls`),
    ]
    expect(new Set(places.map(({ place }) => place))).toEqual(new Set(known))
    for (const { place } of places) {
      const [row] = await owner.control`
        select has_table_privilege('tollgate_requests', ${place}, 'select, insert, update, delete') as open`
      expect(row).toEqual({ open: false })
    }
  })

  test('are not owned by a role of the services', async () => {
    const roles = ['tollgate_jobs', 'tollgate_requests']
    expect(
      await owner.control`
        select rolname, rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolcanlogin as is_strong,
          exists (select from pg_class where relowner = pg_roles.oid)
            or exists (select from pg_proc where proowner = pg_roles.oid)
            or exists (select from pg_namespace where nspowner = pg_roles.oid) as is_owner
        from pg_roles where rolname = any(${roles}) order by rolname`,
    ).toEqual(roles.map((rolname) => ({ rolname, is_strong: false, is_owner: false })))
    const current = await database
      .of(ours)
      .in('live')
      .read((sql) => sql`select current_user as name`)
    expect(current).toMatchObject([{ name: 'tollgate_requests' }])
    expect(await database.in('live')`select current_user as name`).toMatchObject([
      { name: 'tollgate_jobs' },
    ])
  })
})

describe.each(environments)('a request of one provider in %s', (environment) => {
  const request = () => database.of(ours).in(environment)

  test('reads its own rows without a condition, and no others with one', async () => {
    const all = await request().read((sql) => sql`select distinct provider_id from customers`)
    expect(all).toEqual([{ provider_id: ours }])
    const asked = await request().read(
      (sql) => sql`select from customers where provider_id = ${theirs}`,
    )
    expect(asked).toHaveLength(0)
    const keys = await database.of(ours).control.read((sql) => sql`select name from providers`)
    expect(keys).toHaveLength(1)
  })

  test('updates and deletes its own rows without a condition, and no others', async () => {
    const undone = new Error('undone')
    const counts: Record<string, number> = {}
    const changed = request().write(async (sql) => {
      counts['updated'] = (await sql`update customers set name = 'Eve'`).count
      counts['deleted'] = (await sql`delete from customers`).count
      throw undone
    })
    await expect(changed).rejects.toBe(undone)
    expect(counts).toEqual({ updated: 300, deleted: 300 })
  })

  test('cannot insert a row for another provider, or move a row to one', async () => {
    const refused = { code: '42501' }
    await expect(
      request().write(
        (sql) => sql`
          insert into customers (provider_id, reference, email, status, created_at, updated_at)
          values (${theirs}, 'cus_new', 'eve@example.com', 'active', now(), now())`,
      ),
    ).rejects.toMatchObject(refused)
    await expect(
      request().write((sql) => sql`update customers set provider_id = ${theirs}`),
    ).rejects.toMatchObject(refused)
  })

  test('cannot write in a read-only transaction', async () => {
    await expect(
      request().read((sql) => sql`update customers set name = 'Eve'`),
    ).rejects.toMatchObject({ code: '25006' })
  })

  test('finds a customer by email address without scanning all customers', async () => {
    const plan = await request().read(async (sql) => {
      await sql`set local enable_seqscan = off`
      return sql`
        explain select * from customers where provider_id = ${ours} and status = 'active' and email_key = lower(${'ADA7@example.com'})`
    })
    expect(JSON.stringify(plan)).toMatch(/Index Cond: [^"]*email_key/)
    const found = await request().read((sql) => findCustomerByEmail(sql, ours, 'ADA7@example.com'))
    expect(found).toMatchObject({ reference: `${ours}7` })
  })

  test('finds the events of a customer without scanning all events', async () => {
    const plan = await request().read(async (sql) => {
      await sql`set local enable_seqscan = off`
      return sql`explain select * from outbox where provider_id = ${ours} and customer_ref = 'cus_7'`
    })
    expect(JSON.stringify(plan)).toMatch(/Index Cond: [^"]*customer_ref/)
  })
})

test('a transaction needs a provider id', () => {
  expect(() => database.of('').control).toThrow('without an id')
})
