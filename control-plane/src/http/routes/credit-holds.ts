import {
  creditHoldsPath,
  creditHoldsResponseSchema,
  creditHoldsSchema,
} from '@tollgate/schemas/http/credits'
import type { ApiServer } from '../../access/api-server.ts'
import { hiddenUnless } from '../plugins/authentication.ts'
import type { Wallets } from '../../wallets/wallets.ts'

/**
 * Registers the route that holds credits for ingest, which does not write to an embedded hot state. Callers without the secret of
 * the data folder get the response of a route that does not exist.
 */
export function registerCreditHoldsRoute(
  app: ApiServer,
  parts: { readonly wallets: Wallets },
  folderSecret: string,
): void {
  app.post(
    creditHoldsPath,
    {
      onRequest: hiddenUnless(folderSecret),
      schema: {
        hide: true,
        body: creditHoldsSchema,
        response: { 200: creditHoldsResponseSchema },
      },
    },
    async ({ body: { environment, providerId, holds } }) => {
      const due = holds.map((hold) => {
        return { ...hold, environment, providerId, dueMicros: BigInt(hold.dueMicros) }
      })
      const taken = await parts.wallets.take(due)
      return {
        taken: taken.map(({ heldMicros, leftMicros, recharge }) => ({
          takenMicros: heldMicros.toString(),
          leftMicros: leftMicros.toString(),
          ...(recharge === undefined
            ? {}
            : {
                recharge: {
                  belowMicros: recharge.belowMicros.toString(),
                  grantedMicros: recharge.grantedMicros.toString(),
                },
              }),
        })),
      }
    },
  )
}
