import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  registered,
  startTaxRegisterServer,
  stateAway,
  unregistered,
  type TaxRegisterServer,
} from '../testing/tax-register-server.ts'
import { openTaxRegister } from './tax-register.ts'

let server: TaxRegisterServer

beforeEach(async () => {
  server = await startTaxRegisterServer()
})
afterEach(() => server.close())

const lookUp = (taxId: string, requester: string | null = null) =>
  openTaxRegister({ taxRegisterUrl: server.url, taxRegisterTimeoutMs: 1_000 })!.lookUp(
    taxId,
    requester,
  )

test('is absent without an address', () => {
  expect(openTaxRegister({ taxRegisterUrl: '', taxRegisterTimeoutMs: 1_000 })).toBeUndefined()
})

test('returns name, address and proof of a valid tax id, and names the seller', async () => {
  expect(await lookUp('DE123456789', 'SE556012579001')).toEqual({
    kind: 'valid',
    name: 'Ada GmbH',
    address: 'Hauptstr. 1\n10115 Berlin',
    consultationNumber: 'WAPIAAAA1',
  })
  await lookUp('EL123456789')
  expect(server.requests).toEqual([
    '/ms/DE/vat/123456789?requesterMemberStateCode=SE&requesterNumber=556012579001',
    '/ms/EL/vat/123456789',
  ])
})

test.each([
  ['SE 556012-5790.01', 'as it was typed, with blanks and hyphens'],
  ['se556012579001', 'in lower case'],
])('names the seller by the number %s, %s', async (requester) => {
  await lookUp('DE123456789', requester)
  expect(server.requests).toEqual([
    '/ms/DE/vat/123456789?requesterMemberStateCode=SE&requesterNumber=556012579001',
  ])
})

test('asks without the seller if the register does not know the number of the seller', async () => {
  server.unknownSellers.add('123456789')
  expect(await lookUp('DE123456789', 'GB123456789')).toMatchObject({ kind: 'valid' })
  server.answers.set('DE1', unregistered)
  expect(await lookUp('DE1', 'GB123456789')).toEqual({ kind: 'invalid' })
  expect(server.requests).toHaveLength(4)
})

test('returns texts that PostgreSQL can store', async () => {
  server.answers.set('DE1', {
    ...registered,
    name: 'Ada\u0000 GmbH\u0000',
    address: 'a\r\nb\u0007',
  })
  expect(await lookUp('DE1')).toMatchObject({ name: 'Ada  GmbH', address: 'a \nb' })
})

test('returns no details that the state keeps to itself', async () => {
  server.answers.set('DE1', { ...registered, name: '---', address: '---', requestIdentifier: '' })
  expect(await lookUp('DE1')).toEqual({
    ...{ kind: 'valid', name: null, address: null, consultationNumber: null },
  })
})

test('tells a tax id that is not in the register', async () => {
  server.answers.set('DE1', unregistered)
  expect(await lookUp('DE1')).toEqual({ kind: 'invalid' })
})

test.each([
  ['a state that does not answer', stateAway, 'MS_UNAVAILABLE'],
  ['an answer of another form', { valid: true }, 'an answer of another form'],
  ['an answer that contradicts itself', { isValid: false, userError: 'VALID' }, 'VALID'],
  ['no object', 'null', 'an answer of another form'],
  ['no JSON', '<html>', 'not valid JSON'],
  ['no answer', 'hangs', 'timeout'],
  ['an endless answer', ' '.repeat(200_000), 'too long'],
])('takes %s for no answer', async (_, answer, reason) => {
  server.answers.set('DE1', answer)
  const found = await lookUp('DE1')
  expect(found).toMatchObject({ kind: 'unavailable' })
  expect(found.kind === 'unavailable' && found.reason).toContain(reason)
})

test('takes a register that is down for no answer', async () => {
  await server.close()
  expect(await lookUp('DE1')).toMatchObject({ kind: 'unavailable' })
})
