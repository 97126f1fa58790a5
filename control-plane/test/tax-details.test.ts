import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  startTaxRegisterServer,
  stateAway,
  unregistered,
  type TaxRegisterServer,
} from '@tollgate/platform/testing/tax-register-server'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { MerchantBody } from '@tollgate/schemas/http/merchants'
import type { TaxDetailsResponseBody } from '@tollgate/schemas/http/tax-details'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Tax details of customers and defaults of the seller through the API, with a server that answers like the register of the EU. */

let stack: TestStack
let register: TaxRegisterServer
let tenant: Tenant
let key: string
let customerRef: string
let customers = 0

beforeAll(async () => {
  register = await startTaxRegisterServer()
  stack = await startTestStack({
    settings: { TOLLGATE_TAX_REGISTER_URL: register.url, TOLLGATE_TAX_REGISTER_TIMEOUT_MS: '1000' },
  })
  tenant = await stack.createTenant()
})
afterAll(async () => {
  await stack.stop()
  await register.close()
})
beforeEach(() => useKey(tenant.liveKey))

async function useKey(wanted: string): Promise<void> {
  key = wanted
  customers += 1
  const who = { email: `ada${customers}@example.com`, externalRef: `user_${customers}` }
  customerRef = (await stack.call<CustomerBody>(key, 'POST', '/v1/sdk/customers', who)).body
    .reference
}

const path = () => `/v1/ui/customers/${customerRef}/tax-details`
const set = (body: object) => stack.call<TaxDetailsResponseBody>(key, 'PUT', path(), body)
const get = async () => (await stack.call<TaxDetailsResponseBody>(key, 'GET', path())).body
const decide = (body: object) =>
  stack.call<TaxDetailsResponseBody>(
    key,
    'PUT',
    `/v1/ui/customers/${customerRef}/tax-id-check`,
    body,
  )

const german = { isBusiness: true, country: 'de', taxId: 'de 123456789', businessName: 'Ada GmbH' }

describe('tax details', () => {
  test('are null until they are set, and are read as they were stored', async () => {
    expect(await get()).toEqual({ taxDetails: null, taxIdCheck: null })
    const { status, body } = await set({ ...german, email: 'bills@ada.example' })
    expect(status).toBe(200)
    expect(body.taxDetails).toEqual({
      isBusiness: true,
      businessName: 'Ada GmbH',
      customerName: null,
      country: 'DE',
      region: null,
      taxId: 'DE123456789',
      taxIdType: 'eu_vat',
      address: null,
      email: 'bills@ada.example',
    })
    expect(await get()).toEqual(body)
  })

  test('of a consumer have a country, and in Canada a region', async () => {
    const { body } = await set({ isBusiness: false, country: 'CA', region: 'qc' })
    expect(body.taxDetails).toMatchObject({ country: 'CA', region: 'QC', taxId: null })
  })

  test.each([
    [{ isBusiness: true }, 'country'],
    [{ isBusiness: false, country: 'JP' }, 'country'],
    [{ isBusiness: false, country: 'CA' }, 'region'],
    [{ isBusiness: true, country: 'DE', taxId: 'DE1' }, 'taxId'],
    [{ isBusiness: true, country: 'DE', taxID: 'DE123456789' }, 'taxID'],
  ])('refuse %j', async (body, field) => {
    const answer = await set(body)
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body)).toContain(field)
    expect(await get()).toEqual({ taxDetails: null, taxIdCheck: null })
  })
})

describe('a VAT number', () => {
  test('is looked up before the answer', async () => {
    await set({ ...german, taxId: 'DE200000001' })
    expect((await get()).taxIdCheck).toMatchObject({
      ...{ status: 'valid', source: 'register', registeredName: 'Ada GmbH', reason: null },
      consultationNumber: 'WAPIAAAA1',
    })
  })

  test('that is not in the register is stored with this answer', async () => {
    register.answers.set('DE200000002', unregistered)
    const { status, body } = await set({ ...german, taxId: 'DE200000002' })
    expect(status).toBe(200)
    expect(body.taxIdCheck).toMatchObject({ status: 'invalid', source: 'register' })
  })

  test('is accepted as unknown while the register does not answer', async () => {
    register.answers.set('DE200000003', stateAway)
    expect((await set({ ...german, taxId: 'DE200000003' })).body.taxIdCheck).toMatchObject({
      status: 'unknown',
    })
    register.answers.set('DE200000004', 'hangs')
    expect((await set({ ...german, taxId: 'DE200000004' })).body.taxIdCheck).toMatchObject({
      status: 'unknown',
    })
  })

  test('is what a person says until that is taken back', async () => {
    register.answers.set('DE200000005', unregistered)
    await set({ ...german, taxId: 'DE200000005' })
    const decided = await decide({
      taxId: 'DE200000005',
      ...{ status: 'valid', reason: 'certificate of registration' },
    })
    expect(decided.body.taxIdCheck).toMatchObject({
      ...{ status: 'valid', source: 'person', reason: 'certificate of registration' },
    })
    await set({ ...german, taxId: 'DE200000005' })
    expect((await get()).taxIdCheck).toMatchObject({ source: 'person' })
    const forgotten = await stack.call<TaxDetailsResponseBody>(
      key,
      'DELETE',
      `/v1/ui/customers/${customerRef}/tax-id-check`,
    )
    expect(forgotten.body.taxIdCheck).toBeNull()
    await set({ ...german, taxId: 'DE200000005' })
    expect((await get()).taxIdCheck).toMatchObject({ status: 'invalid', source: 'register' })
  })

  test('cannot be decided on where there is none', async () => {
    const refused = { status: 409, body: { code: 'customer_without_tax_id' } }
    const other = { taxId: 'DE200000009', status: 'valid', reason: 'none' }
    expect(await decide(other)).toMatchObject(refused)
    await set({ ...german, taxId: 'DE200000010' })
    expect(await decide(other)).toMatchObject(refused)
  })

  test('of sandbox is never sent to the register', async () => {
    await useKey(tenant.sandboxKey)
    const before = register.requests.length
    const { body } = await set({ ...german, taxId: 'DE200000006' })
    expect(body).toMatchObject({ taxDetails: { taxId: 'DE200000006' }, taxIdCheck: null })
    expect(register.requests).toHaveLength(before)
  })

  test('is forgotten with the last customer who has it', async () => {
    const checks = async (taxId: string) => {
      const rows = await stack.database.in('live')`
        select from tax_id_checks where provider_id = ${tenant.providerId} and tax_id = ${taxId}`
      return rows.length
    }
    await set({ ...german, taxId: 'DE200000008' })
    const first = customerRef
    await useKey(tenant.liveKey)
    await set({ ...german, taxId: 'DE200000008' })
    await stack.call(key, 'DELETE', `/v1/ui/customers/${first}`)
    expect(await checks('DE200000008')).toBe(1)
    await stack.call(key, 'DELETE', `/v1/ui/customers/${customerRef}`)
    expect(await checks('DE200000008')).toBe(0)
  })

  test('of another provider is not theirs', async () => {
    await set({ ...german, taxId: 'DE200000007' })
    const other = await stack.createTenant()
    expect((await stack.call(other.liveKey, 'GET', path())).status).toBe(404)
    expect((await stack.call(other.liveKey, 'PUT', path(), german)).status).toBe(404)
  })
})

describe('the seller', () => {
  const change = (body: object) => stack.call<MerchantBody>(key, 'PATCH', '/v1/ui/merchant', body)

  test('says where customers without tax details are taxed', async () => {
    const { body } = await change({ defaultTaxCountry: 'ca', defaultTaxRegion: 'on' })
    expect(body).toMatchObject({ defaultTaxCountry: 'CA', defaultTaxRegion: 'ON' })
    const moved = (await change({ defaultTaxCountry: 'SE', defaultTaxBehavior: 'exclusive' })).body
    expect(moved).toMatchObject({ defaultTaxCountry: 'SE', defaultTaxBehavior: 'exclusive' })
    expect(moved).not.toHaveProperty('defaultTaxRegion')
    const none = (await change({ defaultTaxCountry: null, defaultTaxBehavior: null })).body
    expect(none).not.toHaveProperty('defaultTaxCountry')
  })

  test.each([
    [{ defaultTaxCountry: 'JP' }, 'defaultTaxCountry'],
    [{ defaultTaxCountry: 'CA' }, 'defaultTaxRegion'],
    [{ defaultTaxRegion: 'ON' }, 'defaultTaxRegion'],
    [{ defaultTaxBehavior: 'auto' }, 'defaultTaxBehavior'],
  ])('is refused %j', async (body, field) => {
    const answer = await change(body)
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body)).toContain(field)
  })
})
