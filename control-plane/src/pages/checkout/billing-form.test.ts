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
  const decision = decideBilling({ ...nothing, ...typed }, undefined, isNeeded)
  expect(decision.kind === 'accept' ? 'accept' : decision.field).toBe(expected)
})

test('sends stored details unchanged', () => {
  const decision = decideBilling(billingFromStored(known), known, true)
  expect(decision).toEqual({ kind: 'accept', details: known })
  const somewhere = { ...known, isBusiness: false, country: null }
  const again = { ...somewhere, businessName: null, taxId: null, taxIdType: null }
  expect(decideBilling(billingFromStored(somewhere), somewhere, true)).toEqual({
    kind: 'accept',
    details: again,
  })
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
