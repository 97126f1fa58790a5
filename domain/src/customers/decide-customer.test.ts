import { expect, test } from 'vitest'
import { decideCustomer } from './decide-customer.ts'
import type { Customer } from './repository.ts'

const free = customer('cus_free', null)
const linked = customer('cus_linked', 'user-1')
const other = customer('cus_other', 'user-2')

test.each([
  ['new email', null, undefined, undefined, { kind: 'create' }],
  ['new email and new external reference', 'user-9', undefined, undefined, { kind: 'create' }],
  ['known email alone', null, free, undefined, { kind: 'email-taken' }],
  ['known email of a linked customer alone', null, linked, undefined, { kind: 'email-taken' }],
  ['known email without a link', 'user-9', free, undefined, { kind: 'link', customer: free }],
  [
    'known email with the same link',
    'user-1',
    linked,
    linked,
    { kind: 'return', customer: linked },
  ],
  [
    'known email with another link',
    'user-9',
    linked,
    undefined,
    { kind: 'email-linked-elsewhere' },
  ],
  [
    'link of a customer with another email',
    'user-2',
    undefined,
    other,
    { kind: 'return', customer: other },
  ],
  [
    'link of one customer, email of another',
    'user-2',
    free,
    other,
    { kind: 'return', customer: other },
  ],
] as const)('decides for %s', (_, externalRef, byEmail, byExternalRef, expected) => {
  const decision = decideCustomer(
    { email: 'ada@example.com', externalRef },
    { byEmail, byExternalRef },
  )
  expect(decision).toEqual(expected)
})

function customer(reference: string, externalRef: string | null): Customer {
  const at = new Date(0)
  return {
    reference,
    email: 'ada@example.com',
    name: null,
    telephone: null,
    locale: null,
    externalRef,
    status: 'active',
    metadata: {},
    testClockRef: null,
    createdAt: at,
    updatedAt: at,
  }
}
