import { closeCustomer, type CloseOutcome } from '@tollgate/domain/closing/close-customer'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { RunnerStack, Shop } from '../../../billing-runner/test/runner-stack.ts'

export const seller = { name: 'Acme' }

/** Deletes the customer of a purchase, who has neither a card nor credits. `database` may be that of a process that dies. */
export function closeAt(
  { runner, shop }: { readonly runner: RunnerStack; readonly shop: Shop },
  { customerRef }: Purchase,
  settle: 'bill_now' | 'write_off' | undefined,
  database = runner.database,
): Promise<CloseOutcome> {
  const now = () => new Date(runner.clock.now())
  const parts = {
    database,
    commit: async (operation, body) => (await runUnitOfWork(database, operation, body)).result,
    charge: undefined,
    measuring: { ...runner.parts, now, storedWaitMs: 30_000 },
    readWallet: () => Promise.resolve(undefined),
    holdCredits: () => Promise.reject(new Error('this customer has no credits')),
    readSeller: () => Promise.resolve(seller),
  } satisfies Parameters<typeof closeCustomer>[0]
  const operation = jobOperation(
    'test',
    { environment: 'sandbox', providerId: shop.providerId },
    now(),
  )
  return closeCustomer(parts, operation, customerRef, settle)
}
