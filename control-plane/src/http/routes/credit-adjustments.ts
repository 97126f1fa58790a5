import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { adjustCredits, type AdjustmentOutcome } from '@tollgate/domain/wallet/adjust-credits'
import { adjustCreditsSchema, creditsAdjustedSchema } from '@tollgate/schemas/http/credits'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { refusals } from '../../errors.ts'
import { readWalletBeforeChange } from '../../wallets/expire-wallet.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { operationOf } from '../../access/caller.ts'
import { requireCustomer } from '../../access/require.ts'
import type { Wallets } from '../../wallets/wallets.ts'

/** Registers the route that changes the credits of a wallet by hand. */
export function registerCreditAdjustmentRoute(
  app: ApiServer,
  parts: ChangeParts & { readonly wallets: Wallets },
): void {
  app.post(
    '/v1/ui/customers/:reference/credits/adjustments',
    {
      schema: {
        tags: ['Credits'],
        params: z.object({ reference: requiredReference }),
        body: adjustCreditsSchema,
        response: { 200: creditsAdjustedSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const customer = await requireCustomer(parts, operation, request.params.reference)
      const customerRef = customer.reference
      const { amount: credits, reason } = request.body
      // Create the key outside the transaction. The transaction may be retried, and each attempt must then hold the same credits.
      const idempotencyKey = operation.idempotencyKey ?? randomUUID()
      const adjustment = { customerRef, credits, reason, idempotencyKey }
      // If the counters are behind, wait for them before any row is locked.
      const hot = await readWalletBeforeChange(parts, { ...operation, customerRef })
      const outcome = await commit(parts, operation, (work) =>
        adjustCredits(work, adjustment, hot, parts.wallets.hold),
      )
      return bodyOf(outcome, request.params.reference)
    },
  )
}

function bodyOf(outcome: AdjustmentOutcome, reference: string) {
  switch (outcome.kind) {
    case 'adjusted':
      return outcome.body
    case 'customer-not-found':
      throw refusals.customerNotFound(reference)
    case 'key-reused':
      throw refusals.idempotencyKeyReused()
    case 'too-little':
      throw refusals.walletTooSmall(outcome.balance)
    case 'full':
      throw refusals.walletFull(outcome.creditsMax)
  }
}
