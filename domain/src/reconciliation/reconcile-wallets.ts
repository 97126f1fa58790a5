import type { Queryable } from '@tollgate/platform/database/database'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import { listUnbalancedWallets } from '../money-ledger/ledger.ts'
import type { Tally } from './finding.ts'
import { isInScope, type Scope } from './scope.ts'

/** Compares the stored balance of each wallet with its entries in the ledger and with the remaining credits of its grants. */
export async function reconcileWallets(
  sql: Queryable,
  scope: Scope,
  findingsMax: number,
  now: Date,
  tally: Tally,
): Promise<void> {
  const counts = await sql<{ provider_id: string; count: number }[]>`
    select provider_id, count(*)::int from wallets group by provider_id`
  for (const { provider_id: providerId, count } of counts) {
    if (isInScope(scope, providerId)) tally.compared(providerId, 'wallet', count)
  }
  for (const wallet of await listUnbalancedWallets(sql, findingsMax)) {
    const { providerId, customerRef, balanceMicros, entriesMicros, grantsMicros } = wallet
    if (!isInScope(scope, providerId)) continue
    const [balance, entries, grants] = [balanceMicros, entriesMicros, grantsMicros].map(
      decimalFromMicros,
    )
    tally.found({
      providerId,
      kind: 'wallet',
      difference: 'differs',
      reference: customerRef,
      ours: `balance ${balance}`,
      theirs: `ledger ${entries}, left of grants ${grants}`,
      since: now,
      isRepaired: false,
    })
  }
}
