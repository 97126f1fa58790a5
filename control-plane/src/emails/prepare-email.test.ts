import type { ClaimedEmail } from '@tollgate/domain/emails/email'
import { expect, test } from 'vitest'
import { prepareEmail, type PrepareParts } from './prepare-email.ts'

test('an email is skipped without a transport, before anything is read', async () => {
  const parts = { transport: { kind: 'none' } } as unknown as PrepareParts
  const claimed = { reference: 'email_1', kind: 'receipt' } as ClaimedEmail
  const caller = { providerId: 'prov_1', environment: 'live' } as const
  const skipped = { kind: 'skip', reason: 'no-transport' }
  expect(await prepareEmail(parts, claimed, caller)).toEqual(skipped)
})
