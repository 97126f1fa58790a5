import type { PossibleRepair, Repair } from './finding.ts'
import type { Scope } from './scope.ts'
import type { Gap } from './tallies.ts'

/** What is left as it is, though something would set it right. */
export type WithheldRepair = {
  readonly repair: Repair
  readonly reason: 'records are gone' | 'one provider alone' | 'wallets not compared'
}

export type DecidedRepairs = {
  readonly repairs: readonly Repair[]
  readonly withheld: readonly WithheldRepair[]
}

/**
 * Counts of a partition hold what wallets paid, of all providers: made again of records of which some are gone, they would
 * give that back. So all those wallets have to be compared with the ledger, which knows.
 */
export function decideRepairs(
  possible: readonly PossibleRepair[],
  { providerId }: Pick<Scope, 'providerId'>,
  gaps: readonly Gap[],
): DecidedRepairs {
  const repairs: Repair[] = []
  const withheld: WithheldRepair[] = []
  for (const { repair, isForbidden } of possible) {
    const reason = isForbidden
      ? 'records are gone'
      : repair.kind === 'counts'
        ? reasonToKeepCounts(providerId, gaps)
        : undefined
    if (reason === undefined) repairs.push(repair)
    else withheld.push({ repair, reason })
  }
  return { repairs, withheld }
}

function reasonToKeepCounts(
  providerId: string | undefined,
  gaps: readonly Gap[],
): WithheldRepair['reason'] | undefined {
  if (providerId !== undefined) return 'one provider alone'
  return gaps.some(({ kind }) => kind === 'wallet') ? 'wallets not compared' : undefined
}
