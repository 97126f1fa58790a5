import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { openTaxRegister, type TaxRegister } from '@tollgate/platform/tax-register/tax-register'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import {
  startTaxRegisterServer,
  stateAway,
  unregistered,
  type TaxRegisterServer,
} from '@tollgate/platform/testing/tax-register-server'
import { listDue } from '../src/calendar/claims.ts'
import { taxIdsToCheck } from '../src/calendar/due-items.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { lookUpTaxId } from '../src/tax/look-up-tax-id.ts'
import { checkByPerson } from '../src/tax/tax-id-check.ts'
import {
  findTaxIdCheck,
  removeUnusedTaxIdCheck,
  saveTaxIdCheck,
} from '../src/tax/tax-id-checks-repository.ts'
import { saveTaxDetails } from '../src/tax/tax-details-repository.ts'
import type { UnitOfWork } from '../src/unit-of-work/unit-of-work.ts'
import { billedAt, createPurchases, inWork, type BilledCustomer } from './billed-customers.ts'

/* On a real PostgreSQL and a server that answers like the register: what is known about tax ids, and when the register is asked. */

const taxId = 'DE123456789'
const hourMs = 3_600_000

let testDatabase: TestDatabase
let database: Database
let server: TaxRegisterServer
let register: TaxRegister
let providers = 0
let providerId: string
let customer: BilledCustomer

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())
beforeEach(async () => {
  server = await startTaxRegisterServer()
  register = openTaxRegister({ taxRegisterUrl: server.url, taxRegisterTimeoutMs: 1_000 })!
  providerId = `prv_${providers++}`
  customer = (await createPurchases(database, providerId, 1))[0]!
  await inWork(database, providerId, ({ sql }) =>
    saveTaxDetails(
      sql,
      providerId,
      customer.customerRef,
      {
        ...{ isBusiness: true, businessName: 'Ada', customerName: null, country: 'DE' },
        ...{ taxId, taxIdType: 'eu_vat' },
      },
      billedAt,
    ),
  )
})
afterEach(() => server.close())

const after = (ms: number): Date => new Date(billedAt.getTime() + ms)

const lookUp = (now = billedAt) =>
  lookUpTaxId(
    register,
    (body) => inWork(database, providerId, (work: UnitOfWork) => body({ ...work, now })),
    taxId,
  )

const check = () =>
  inWork(database, providerId, ({ sql }) => findTaxIdCheck(sql, providerId, taxId))

async function dueAt(now: Date): Promise<boolean> {
  const { items } = await listDue(database.in('sandbox'), taxIdsToCheck.select, now, 1_000)
  return items.some((each) => each.providerId === providerId && each.item === taxId)
}

test('a tax id is due until it was looked up, and again after 90 days', async () => {
  expect(await dueAt(billedAt)).toBe(true)
  expect(await lookUp()).toBe('done')
  expect(await check()).toMatchObject({
    ...{ status: 'valid', source: 'register', registeredName: 'Ada GmbH' },
    consultationNumber: 'WAPIAAAA1',
  })
  expect(await dueAt(after(89 * 24 * hourMs))).toBe(false)
  expect(await lookUp(after(89 * 24 * hourMs))).toBe('nothing')
  expect(server.requests).toHaveLength(1)
  expect(await dueAt(after(90 * 24 * hourMs))).toBe(true)
})

test('a tax id that is not in the register is asked for again after a day', async () => {
  server.answers.set(taxId, unregistered)
  expect(await lookUp()).toBe('done')
  expect(await check()).toMatchObject({ status: 'invalid', registeredName: null })
  expect(await dueAt(after(23 * hourMs))).toBe(false)
  expect(await dueAt(after(24 * hourMs))).toBe(true)
})

test('without an answer what was known stays, and the register is asked again in an hour', async () => {
  server.answers.set(taxId, stateAway)
  expect(await lookUp()).toBe('unavailable')
  expect(await check()).toMatchObject({ status: 'unknown', nextCheckAt: after(hourMs) })
  server.answers.delete(taxId)
  expect(await lookUp(after(hourMs))).toBe('done')
  server.answers.set(taxId, stateAway)
  const later = after(91 * 24 * hourMs)
  expect(await lookUp(later)).toBe('unavailable')
  expect(await check()).toMatchObject({
    ...{ status: 'valid', checkedAt: after(hourMs) },
    nextCheckAt: new Date(later.getTime() + hourMs),
  })
})

test('the decision of a person stays, even if it is made while the register is asked', async () => {
  const decide = () =>
    inWork(database, providerId, ({ sql }) =>
      saveTaxIdCheck(sql, providerId, checkByPerson(taxId, 'valid', 'certificate', billedAt)),
    )
  server.answers.set(taxId, unregistered)
  const asked = register.lookUp.bind(register)
  register = {
    lookUp: async (...of) => {
      const answer = await asked(...of)
      await decide()
      return answer
    },
  }
  await lookUp()
  expect(await check()).toMatchObject({ status: 'valid', source: 'person', reason: 'certificate' })
  expect(await dueAt(after(1_000 * 24 * hourMs))).toBe(false)
})

test('a request without an answer does not undo what another request learned meanwhile', async () => {
  const asked = register
  const answered = { ...register }
  server.answers.set(taxId, unregistered)
  register = {
    lookUp: async () => {
      register = answered
      expect(await lookUp()).toBe('done')
      return { kind: 'unavailable', reason: 'timeout' }
    },
  }
  expect(await lookUp()).toBe('unavailable')
  register = asked
  expect(await check()).toMatchObject({ status: 'invalid', nextCheckAt: after(24 * hourMs) })
})

test('what the register said about a tax id that nobody has any more is forgotten when it is due', async () => {
  const forget = (now: Date) =>
    inWork(database, providerId, ({ sql }) => removeUnusedTaxIdCheck(sql, providerId, taxId, now))
  const dueDate = after(90 * 24 * hourMs)
  await lookUp()
  expect(await forget(dueDate)).toBe(false)
  await database.in('sandbox')`
    delete from customer_tax_details where provider_id = ${providerId}`
  expect(await forget(after(hourMs))).toBe(false)
  expect(await dueAt(dueDate)).toBe(true)
  expect(await forget(dueDate)).toBe(true)
  expect(await check()).toBeUndefined()
  expect(await dueAt(dueDate)).toBe(false)
})

test('the audit log has what became known, and no look-ups without a new answer', async () => {
  const entries = () => database.in('sandbox')`
    select action, changed_columns from audit_log
    where provider_id = ${providerId} and kind = 'tax_id_checks' order by id`
  await lookUp()
  server.answers.set(taxId, stateAway)
  await lookUp(after(90 * 24 * hourMs))
  server.answers.delete(taxId)
  await lookUp(after(91 * 24 * hourMs))
  expect(await entries()).toMatchObject([{ action: 'insert' }])
  server.answers.set(taxId, unregistered)
  await lookUp(after(200 * 24 * hourMs))
  expect(await entries()).toMatchObject([
    { action: 'insert' },
    {
      action: 'update',
      changed_columns: ['registered_address', 'registered_name', 'status'],
    },
  ])
})
