import { expect, test } from 'vitest'
import { decideTaxDetails, type TaxDetails } from './tax-details.ts'

const decide = (region?: string, known?: TaxDetails) =>
  decideTaxDetails({ isBusiness: false, customerCountry: 'US', region }, known)

test('stores a state of the US, which is optional and stays while the country does', () => {
  expect(decide('ny')).toMatchObject({ details: { region: 'NY' } })
  expect(decide()).toMatchObject({ kind: 'accept', details: { country: 'US' } })
  const known = decide('WA')
  if (known.kind === 'refuse') throw new Error(known.reason)
  expect(decide(undefined, known.details)).toMatchObject({ details: { region: 'WA' } })
  expect(decide('XX')).toMatchObject({ kind: 'refuse', field: 'region' })
})
