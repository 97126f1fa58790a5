import type { PossibleRepair, Repair } from './finding.ts'
import type { Scope } from './scope.ts'
import type { Gap } from './tallies.ts'

/** A repair that is possible but not carried out. */
export type WithheldRepair = {
  readonly repair: Repair
  readonly reason: 'records are gone' | 'one provider alone' | 'wallets not compared'
}

export type DecidedRepairs = {
  readonly repairs: readonly Repair[]
  readonly withheld: readonly WithheldRepair[]
}

/**
 * Decides which repairs can be carried out. The counts of a partition include the debits of wallets of all providers. If they were
 * rebuilt from records of which some are lost, those debits would be given back. So counts are rebuilt only if all wallets of the
 * partition were compared with the ledger.
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
