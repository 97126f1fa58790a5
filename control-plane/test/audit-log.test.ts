import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sealEntries } from '@tollgate/domain/audit/seal-entries'
import { verifyAuditLog } from '@tollgate/domain/audit/verify-log'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { createOutput } from '@tollgate/platform/cli/output'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { AuditEntryBody } from '@tollgate/schemas/http/audit-log'
import { exportAuditCommand, verifyAuditCommand } from '../src/cli/audit-commands.ts'
import { buildTestApp, changingRoutes } from './built-app.ts'
import { createUser, password, signIn } from './console-user.ts'
import { customerAuthCalls } from './customer-auth-calls.ts'
import { McpStack } from './mcp-stack.ts'
import { creditScheduleCalls } from './credit-schedule-calls.ts'
import { correctionCalls } from './correction-calls.ts'
import { exchangeAndTaxCalls } from './exchange-and-tax-calls.ts'
import { invoiceCalls } from './invoice-calls.ts'
import { overrideCalls } from './override-calls.ts'
import { purchaseChangeCalls } from './purchase-change-calls.ts'
import { payingRoutes, unauditedRoutes } from './routes-without-entries.ts'
import { testClockCalls } from './test-clock-calls.ts'
import { webhookCalls } from './webhook-calls.ts'

let mcp: McpStack
let owner: Database

beforeAll(async () => {
  mcp = await McpStack.start()
  owner = createPostgresDatabase({ url: mcp.stack.databaseUrl, isOwner: true, poolMax: 2 })
})

afterAll(async () => {
  await owner.close()
  await mcp.stop()
})

type Page = { readonly entries: readonly AuditEntryBody[]; readonly next: string | null }

async function auditPage(query: string): Promise<Page> {
  const answer = await mcp.stack.call<Page>(
    mcp.tenant.sandboxKey,
    'GET',
    `/v1/ui/audit-log?${query}`,
  )
  expect(answer.status).toBe(200)
  return answer.body
}

async function send(
  path: string,
  body: unknown,
  method = 'POST',
  credential: string | undefined = mcp.tenant.sandboxKey,
) {
  const answer = await mcp.stack.call<Record<string, string>>(credential, method, path, body)
  expect([method, path, answer.status < 300, answer.body]).toEqual([
    method,
    path,
    true,
    answer.body,
  ])
  return answer.body
}

describe('the list of changing routes', () => {
  /** Earlier calls create the objects that later calls need. */
  const refs: Record<string, string> = { sessionId: 'none-yet' }
  const email = 'owner@example.com'
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const calls: Record<string, (path: string) => Promise<unknown>> = {
    'POST /v1/sdk/products': async (path) => {
      refs['productRef'] = (await send(path, { name: 'Search' }))['reference']!
    },
    'PUT /v1/sdk/products/:productRef': (path) => send(path, { name: 'Find' }, 'PUT'),
    'POST /v1/sdk/products/:productRef/clone': (path) => send(path, {}),
    'POST /v1/sdk/products/:productRef/plans': async (path) => {
      const terms = { type: 'recurring', price: 0, limit: 5, billingCycle: 'monthly' }
      const plan = { name: 'Monthly', ...terms }
      refs['planRef'] = (await send(path, plan))['reference']!
    },
    'PUT /v1/sdk/products/:productRef/plans/:planRef': (path) => send(path, { name: 'M' }, 'PUT'),
    'POST /v1/sdk/customers': async (path) => {
      refs['reference'] = (await send(path, { email: 'ada@example.com' }))['reference']!
    },
    'POST /v1/sdk/checkout-sessions': (path) =>
      send(path, { customerRef: refs['reference'], productRef: refs['productRef'] }),
    'POST /v1/sdk/customers/customer-sessions': (path) =>
      send(path, { customerRef: refs['reference'] }),
    'PATCH /v1/sdk/customers/:reference': (path) => send(path, { name: 'Ada' }, 'PATCH'),
    'POST /v1/sdk/customers/:reference/credits': (path) => send(path, { credits: 100 }),
    'POST /v1/ui/customers/:reference/credits/adjustments': (path) =>
      send(path, { amount: -40, reason: 'a mistake' }),
    ...creditScheduleCalls(refs, send),
    ...{ ...overrideCalls(refs, send), ...testClockCalls(refs, send), ...correctionCalls(send) },
    ...{ ...invoiceCalls(refs, send, () => mcp), ...exchangeAndTaxCalls(send) },
    'POST /v1/sdk/activate': async (path) => {
      const { productRef, planRef, reference: customerRef } = refs
      refs['purchaseRef'] = (await send(path, { customerRef, productRef, planRef }))['purchaseRef']!
    },
    ...purchaseChangeCalls(refs, send),
    'PUT /v1/sdk/auto-recharge': (path) =>
      send(
        path,
        { customerRef: refs['reference'], enabled: false, triggerType: 'balance', currency: 'USD' },
        'PUT',
      ),
    'DELETE /v1/sdk/auto-recharge': async (path) => {
      // Set the status as after a first payment, because terms that are already disabled cannot be disabled.
      await mcp.stack.database.in('sandbox')`update auto_recharges set status = 'active'`
      await send(`${path}?customerRef=${refs['reference']}`, undefined, 'DELETE')
    },
    'POST /v1/ui/meters': async (path) => {
      refs['meterRef'] = (await send(path, { name: 'tokens' }))['reference']!
    },
    'PATCH /v1/ui/meters/:meterRef': (path) => send(path, { displayName: 'Tokens' }, 'PATCH'),
    'POST /v1/ui/api-keys': async (path) => {
      refs['keyId'] = (await send(path, {}))['keyId']!
    },
    'POST /v1/ui/api-keys/:keyId/rotate': (path) => send(path, {}),
    'DELETE /v1/ui/api-keys/:keyId': (path) => send(path, undefined, 'DELETE'),
    'PATCH /v1/ui/merchant': (path) => send(path, { legalName: 'Acme Ltd' }, 'PATCH'),
    'PUT /v1/ui/merchant/:kind': async (path) => {
      const answer = await mcp.stack.callRaw(mcp.tenant.sandboxKey, 'PUT', path, {
        body: png,
        headers: { 'content-type': 'image/png' },
      })
      expect(answer.status).toBe(200)
    },
    'POST /v1/sdk/products/mcp/bootstrap': async () => {
      const made = await mcp.bootstrap({ name: 'Tools', tools: [{ name: 'ping', noPlan: true }] })
      refs['mcpProductRef'] = made.body.product.reference
    },
    'PUT /v1/sdk/products/:productRef/mcp/plans': () =>
      send(
        `/v1/sdk/products/${refs['mcpProductRef']}/mcp/plans`,
        { plans: [{ key: 'free', name: 'Free', price: 0, currency: 'USD' }] },
        'PUT',
      ),
    'POST /v1/ui/products/:productRef/mcp/discover': () =>
      send(`/v1/ui/products/${refs['mcpProductRef']}/mcp/discover`, {}),
    ...customerAuthCalls(refs, send),
    'POST /v1/ui/auth/password': async () => {
      await createUser(mcp.stack, mcp.tenant, email)
    },
    'POST /v1/ui/auth/sign-in': async () => {
      refs['token'] = (await signIn(mcp.stack, email)).accessToken
    },
    'POST /v1/ui/auth/environment': (path) =>
      send(path, { environment: 'sandbox' }, 'POST', refs['token']),
    'POST /v1/ui/users': async (path) => {
      const invited = { email: 'bob@example.com', role: 'member' }
      await send(path, invited, 'POST', refs['token'])
      const all = await auditPage('limit=500')
      refs['userId'] = all.entries.find(({ operation }) => operation === `POST ${path}`)!.reference
    },
    'PATCH /v1/ui/users/:userId': (path) => send(path, { name: 'Bob' }, 'PATCH', refs['token']),
    'POST /v1/ui/users/:userId/password-link': (path) => send(path, {}, 'POST', refs['token']),
    'DELETE /v1/ui/users/:userId': (path) => send(path, undefined, 'DELETE', refs['token']),
    'POST /v1/ui/provider/auth/cli-init/sessions/:sessionId/complete': async (path) => {
      const sessions = path.replace(/\/[^/]+\/complete$/, '')
      const { sessionId } = await send(sessions, {})
      await send(
        `${sessions}/${sessionId}/complete`,
        { environment: 'sandbox' },
        'POST',
        refs['token'],
      )
    },
    'PUT /v1/ui/auth/password': (path) =>
      send(
        path,
        { currentPassword: password, newPassword: 'quite another battery' },
        'PUT',
        refs['token'],
      ),
    ...webhookCalls(refs, send, () => mcp.stack.database.in('sandbox')),
    'DELETE /v1/sdk/products/:productRef/plans/:planRef': (path) => send(path, undefined, 'DELETE'),
    'DELETE /v1/sdk/products/:productRef': (path) => send(path, undefined, 'DELETE'),
    'DELETE /v1/ui/customers/:reference': (path) => send(path, undefined, 'DELETE'),
  }

  test('contains every route that changes something', async () => {
    const usageStore = createClickHouseUsageStore({
      url: 'http://127.0.0.1:9',
      username: 'default',
      password: '',
      requestTimeoutMs: 500,
    })
    const { database } = mcp.stack
    const metrics = createMetrics('control-plane')
    const app = await buildTestApp(mcp.stack, { database, usageStore, metrics })
    // The console serves some routes under a second path, with the same handler. Other tests cover what customers and users do on
    // pages, which need no key.
    const isSecondPath = (route: string): boolean =>
      route.includes('/v1/ui/') &&
      ['/v1/sdk/', '/v1/'].some((first) => route.replace('/v1/ui/', first) in calls)
    const routes = changingRoutes(app).filter(
      (route) => !/ \/(customer|console)\//.test(route) && !isSecondPath(route),
    )
    expect(routes.sort()).toEqual(
      [...Object.keys(calls), ...unauditedRoutes, ...payingRoutes].sort(),
    )
    await app.close()
    await usageStore.close()
  })

  test('records who changed what', async () => {
    for (const [route, call] of Object.entries(calls)) {
      const path = route
        .replace(/^\w+ /, '')
        .replace(':kind', 'logo')
        .replace(':currency', 'EUR')
        .replace(/:(\w+)/g, (_, name: string) => refs[name]!)
      await call(path)
    }
    const { entries } = await auditPage('limit=500')
    for (const route of Object.keys(calls)) {
      const own = entries.filter(({ operation }) => operation === route)
      expect([route, own.length > 0]).toEqual([route, true])
      for (const entry of own) {
        expect(entry).toMatchObject({
          actor: expect.stringMatching(/^(key:key|user:usr)_/) as string,
          ip: '127.0.0.1',
          requestId: expect.stringMatching(/^req_/) as string,
        })
      }
    }
  }, 120_000)

  test('records the changed columns but not their values', async () => {
    const { entries } = await auditPage(`reference=${refs['meterRef']}`)
    const [changed, made] = entries
    expect(entries).toHaveLength(2)
    expect(changed).toMatchObject({
      kind: 'meters',
      action: 'update',
      changedColumns: ['display_name', 'updated_at'],
      beforeSha256: made!.afterSha256,
      environment: 'sandbox',
    })
    expect(made).toMatchObject({ action: 'insert', changedColumns: null, beforeSha256: null })
    expect(changed!.afterSha256).not.toBe(made!.afterSha256)
  })

  test('returns pages in a stable order', async () => {
    const whole = (await auditPage('limit=500')).entries
    expect(whole.some(({ id }) => id.startsWith('control-'))).toBe(true)
    const paged: AuditEntryBody[] = []
    for (let before: string | null = ''; before !== null;) {
      const page: Page = await auditPage(before === '' ? 'limit=7' : `limit=7&before=${before}`)
      paged.push(...page.entries)
      before = page.next
    }
    expect(paged).toEqual(whole)
    const { actor } = whole[0]!
    expect((await auditPage(`limit=500&actor=${actor}`)).entries).toEqual(
      whole.filter((entry) => entry.actor === actor),
    )
    const live = await mcp.stack.call<Page>(mcp.tenant.liveKey, 'GET', '/v1/ui/audit-log?limit=500')
    expect(live.body.entries.filter(({ environment }) => environment === 'sandbox')).toEqual([])
    expect(
      (await mcp.stack.call(mcp.tenant.liveKey, 'GET', '/v1/ui/audit-log?before=x')).status,
    ).toBe(400)
  })
})

test('records the database login of a change made outside Tollgate', async () => {
  const { providerId } = mcp.tenant
  await owner.in('sandbox')`
    insert into exchange_rates values (${providerId}, 'SEK', 10, now())`
  const { entries } = await auditPage('reference=SEK')
  expect(entries).toMatchObject([{ actor: 'database:tollgate', operation: '', requestId: null }])
})

test.each(['audit_log', 'audit_seals'])(
  'lets services change nothing in %s, and lets requests add nothing',
  async (table) => {
    const { database } = mcp.stack
    const refused = { code: '42501' }
    const { providerId } = mcp.tenant
    for (const sql of [database.in('sandbox'), database.control]) {
      await expect(sql`update ${sql(table)} set provider_id = 'x'`).rejects.toMatchObject(refused)
      await expect(sql`delete from ${sql(table)}`).rejects.toMatchObject(refused)
      await expect(sql`truncate ${sql(table)}`).rejects.toMatchObject(refused)
      const rows = database.of(providerId).in('sandbox')
      await expect(
        rows.write((own) => own`update ${own(table)} set provider_id = provider_id`),
      ).rejects.toMatchObject(refused)
      await expect(
        rows.write((own) => own`insert into ${own(table)} (provider_id) values (${providerId})`),
      ).rejects.toMatchObject(refused)
    }
    await expect(
      owner.in('sandbox')`update ${owner.control(table)} set provider_id = 'x'`,
    ).rejects.toThrow('stays as it is')
  },
)

describe('a sealed log', () => {
  const undone = new Error('undone')

  /** Returns what the verification finds after a user with all rights has made the change. The change is rolled back. */
  async function foundAfter(change: string): Promise<unknown> {
    let found: unknown
    const attempt = owner.in('sandbox').begin(async (sql) => {
      await sql`alter table audit_log disable trigger user`
      await sql`alter table audit_seals disable trigger user`
      await sql.unsafe(change)
      const { broken } = await verifyAuditLog(sql, mcp.tenant.providerId)
      found = broken?.reason
      throw undone
    })
    await expect(attempt).rejects.toBe(undone)
    return found
  }

  const some = `(select id from audit_log where provider_id = 'PROVIDER' order by id offset 3 limit 1)`
  const copied = `provider_id, environment, at, actor, operation, request_id, ip, kind, reference, action, changed_columns, before_sha256, after_sha256`

  test.each([
    ['nothing', 'select', undefined],
    ['an actor', `update audit_log set actor = 'key:other' where id = ${some}`, 'altered'],
    ['a moment', `update audit_log set at = at + interval '1 us' where id = ${some}`, 'altered'],
    ['a hash', `update audit_log set after_sha256 = null where id = ${some}`, 'altered'],
    ['an entry', `delete from audit_log where id = ${some}`, 'entries-missing-or-added'],
    [
      'one more entry',
      `delete from audit_log where id = ${some};
       insert into audit_log (id, ${copied}) overriding system value
         select min(id) - 1, ${copied} from audit_log where provider_id = 'PROVIDER'
         group by ${copied} order by 1 limit 1;
       insert into audit_log (id, ${copied}) overriding system value
         select min(id) - 2, ${copied} from audit_log where provider_id = 'PROVIDER'
         group by ${copied} order by 1 limit 1`,
      'entries-missing-or-added',
    ],
    [
      'the first seal',
      `delete from audit_seals where number = 1 and provider_id = 'PROVIDER'`,
      'seal-out-of-order',
    ],
    [
      'a seal',
      `update audit_seals set sha256 = repeat('0', 64) where number = 1 and provider_id = 'PROVIDER'`,
      'altered',
    ],
  ])('detects a change of %s', async (_, change, reason) => {
    const pool = mcp.stack.database.in('sandbox')
    await sealEntries(pool, 0n, new Date())
    await send('/v1/sdk/products', { name: 'One more' })
    await sealEntries(pool, 0n, new Date())
    const statement = change.replaceAll('PROVIDER', mcp.tenant.providerId)
    expect(await foundAfter(statement)).toBe(reason)
  })

  test('waits for open transactions that append entries', async () => {
    const started = await startTestDatabase(migrationsFolder)
    const pool = started.database.in('sandbox')
    const rate = (currency: string) => pool`
      insert into exchange_rates values ('prov_a', ${currency}, 1, now())`
    await pool.begin(async (slow) => {
      await slow`insert into exchange_rates values ('prov_a', 'EUR', 1, now())`
      await rate('SEK')
      expect(await sealEntries(pool, 0n, new Date())).toEqual({ sealed: 0, sealedToId: 0n })
    })
    const round = await sealEntries(pool, 0n, new Date())
    expect(round).toEqual({ sealed: 2, sealedToId: 2n })
    await rate('NOK')
    const rounds = await Promise.all([1, 2, 3].map(() => sealEntries(pool, 2n, new Date())))
    expect(rounds.map(({ sealed }) => sealed).sort()).toEqual([0, 0, 1])
    const { entries, head, broken } = await verifyAuditLog(pool, 'prov_a')
    expect([entries, head?.number, broken]).toEqual([3n, 2n, undefined])
    await started.stop()
  })

  test('verifies and exports the log with CLI commands', async () => {
    const lines: string[] = []
    const { database } = mcp.stack
    const parts = { database, output: createOutput(() => 'text', lines.push.bind(lines)) }
    const { providerId } = mcp.tenant
    await sealEntries(database.in('sandbox'), 0n, new Date())
    await verifyAuditCommand(parts, { provider: providerId })
    const head = /sandbox {2}whole .* ([0-9a-f]{64})$/m.exec(lines.join('\n'))?.[1]
    await verifyAuditCommand(parts, { head: head! })
    const unknown = verifyAuditCommand(parts, { head: '0'.repeat(64) })
    await expect(unknown).rejects.toThrow('the seal 000')
    lines.length = 0
    await exportAuditCommand(parts, { provider: providerId })
    const exported = lines.map((line) => JSON.parse(line) as { type: string; sha256?: string })
    expect(exported.some(({ type, sha256 }) => type === 'seal' && sha256 === head)).toBe(true)
    const counts = await Promise.all(
      [database.control, database.in('sandbox'), database.in('live')].map(
        async (sql) => (await sql`select from audit_log where provider_id = ${providerId}`).count,
      ),
    )
    const entries = exported.filter(({ type }) => type === 'entry')
    expect(entries).toHaveLength(counts.reduce((sum, count) => sum + count))
  })
})
