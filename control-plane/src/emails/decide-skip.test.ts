import { emailKinds } from '@tollgate/schemas/http/emails'
import { expect, test } from 'vitest'
import { decideSkip, type SkipFacts } from './decide-skip.ts'

const sent: SkipFacts = {
  transport: 'smtp',
  environment: 'live',
  kind: 'receipt',
  chosenKinds: emailKinds,
  isRequested: false,
  ageMs: 1_000,
  ageMsMax: 1_000,
  recipient: 'ada@example.com',
  suppressions: [],
  sandboxRecipients: [],
}

const sandbox = { environment: 'sandbox' } as const

test.each<[Partial<SkipFacts>, ReturnType<typeof decideSkip>]>([
  [{}, undefined],
  [{ chosenKinds: ['payment_failed'] }, 'not-chosen'],
  [{ chosenKinds: ['payment_failed'], isRequested: true }, undefined],
  [{ ageMs: 1_001 }, 'outdated'],
  [{ recipient: null }, 'no-address'],
  [{ recipient: 'user_1-1760000000000@auto-created.local' }, 'no-address'],
  [{ recipient: 'user_1@AUTO-CREATED.LOCAL' }, 'no-address'],
  [{ suppressions: [{ reason: 'bounced' }] }, 'suppressed'],
  [{ suppressions: [{ reason: 'complained' }] }, 'suppressed'],
  [{ suppressions: [{ reason: 'manual' }] }, 'suppressed'],
  // A receipt belongs to the contract.
  [{ suppressions: [{ reason: 'unsubscribed' }] }, undefined],
  [{ suppressions: [{ reason: 'unsubscribed' }], kind: 'budget_reached' }, 'unsubscribed'],
  [{ suppressions: [{ reason: 'unsubscribed' }], kind: 'credits_expiring' }, 'unsubscribed'],
  [{ suppressions: [{ reason: 'unsubscribed' }, { reason: 'bounced' }] }, 'suppressed'],
  [sandbox, 'sandbox'],
  [{ ...sandbox, sandboxRecipients: ['dev@example.com'] }, 'sandbox'],
  [{ ...sandbox, sandboxRecipients: ['Ada@Example.com'] }, undefined],
  [{ ...sandbox, transport: 'inbox' }, undefined],
])('%j: %s', (change, expected) => {
  expect(decideSkip({ ...sent, ...change })).toBe(expected)
})
