import { expect, test } from 'vitest'
import type { TaxDetails } from '@tollgate/domain/tax/tax-details'
import {
  decideBilling,
  billingFromStored,
  billingFromForm,
  type BillingForm,
} from './billing-form.ts'

const known: TaxDetails = {
  isBusiness: true,
  businessName: 'Acme GmbH',
  customerName: 'Ada',
  country: 'DE',
  taxId: 'DE123456789',
  taxIdType: 'eu_vat',
  address: null,
}

const nothing = { isBusiness: false, country: '', businessName: '', taxId: '' }

test.each<[string, Partial<BillingForm>, boolean, string]>([
  ['nothing, where it is needed', {}, true, 'country'],
  ['nothing, where it is not', {}, false, 'accept'],
  ['a country', { country: 'FR' }, true, 'accept'],
  ['another country than those that can be told', { country: 'elsewhere' }, true, 'accept'],
  ['one that cannot be told', { country: 'JP' }, true, 'country'],
  ['a business that is nowhere', { isBusiness: true }, false, 'country'],
  [
    'a business elsewhere, whose country has to be told',
    { isBusiness: true, country: 'elsewhere' },
    true,
    'country',
  ],
  ['a business without a tax id', { isBusiness: true, country: 'FR' }, true, 'accept'],
  [
    'a tax id of another country',
    { isBusiness: true, country: 'FR', taxId: 'DE123456789' },
    true,
    'taxId',
  ],
])('%s', (_, typed, isNeeded, expected) => {
  const decision = decideBilling({ ...nothing, ...typed }, undefined, {
    isNeeded,
    isStateNeeded: false,
  })
  expect(decision.kind === 'accept' ? 'accept' : decision.field).toBe(expected)
})

const needed = { isNeeded: true, isStateNeeded: false }

test('sends stored details unchanged', () => {
  const decision = decideBilling(billingFromStored(known, false), known, needed)
  expect(decision).toEqual({ kind: 'accept', details: known })
  const somewhere = { ...known, isBusiness: false, country: null }
  const again = { ...somewhere, businessName: null, taxId: null, taxIdType: null }
  expect(decideBilling(billingFromStored(somewhere, false), somewhere, needed)).toEqual({
    kind: 'accept',
    details: again,
  })
})

test('asks for the state of a customer in the US if the tax depends on it', () => {
  const withStates = { isNeeded: true, isStateNeeded: true }
  const asked = { ...nothing, country: 'US' }
  expect(decideBilling(asked, undefined, needed).kind).toBe('accept')
  expect(decideBilling(asked, undefined, withStates)).toEqual({ kind: 'refuse', field: 'country' })
  const decision = decideBilling({ ...asked, country: 'US-CA' }, undefined, withStates)
  if (decision.kind !== 'accept') throw new Error(decision.field)
  const { details } = decision
  expect(details).toMatchObject({ country: 'US', region: 'CA' })
  expect(billingFromStored(details, true).country).toBe('US-CA')
  expect(billingFromStored(details, false).country).toBe('US')
  expect(decideBilling({ ...nothing, country: 'US-XX' }, undefined, withStates).kind).toBe('refuse')
})

test('reads a form as people fill it in', () => {
  const form = { isBusiness: 'yes', country: 'DE', taxId: '  de 123 ', businessName: ' Acme ' }
  expect(billingFromForm(form)).toEqual({
    isBusiness: true,
    country: 'DE',
    businessName: 'Acme',
    taxId: 'de 123',
  })
  expect(billingFromForm({})).toEqual(nothing)
})
