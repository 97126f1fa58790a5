import { setTimeout as sleep } from 'node:timers/promises'
import type { MigratedPlace } from '@tollgate/platform/usage-store/clickhouse/migrated-place'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { addNotes } from './fill-notes.ts'

/** Times of a claim. The server's clock decides, so the clocks of processes may differ. */
export type ClaimTimes = {
  /** A process that has not noted its claim for this time counts as dead. */
  readonly leaseMs: number
  readonly beatMs: number
  /** Time after which the first note of a claim is visible to every other process. */
  readonly visibleAfterMs: number
}

const usualTimes: ClaimTimes = { leaseMs: 30_000, beatMs: 5_000, visibleAfterMs: 1_000 }

/** The right of one process to fill. Two processes that both believe to have it do work twice, and change no sum. */
export type FillClaim = {
  /** Throws if other processes may count this one as dead. */
  requireHeld(): void
  /** Lets the next process begin. */
  release(): Promise<void>
}

export class LostClaimError extends Error {
  override readonly name = 'LostClaimError'
}

/**
 * Waits until no process that began earlier is alive. The claim is noted repeatedly until it is released. A process that dies with it
 * delays the next one by the lease. Rejects if `signal` is aborted.
 */
export async function claimFill(
  store: UsageStore,
  place: MigratedPlace,
  owner: string,
  signal: AbortSignal,
  { leaseMs, beatMs, visibleAfterMs }: ClaimTimes = usualTimes,
): Promise<FillClaim> {
  let heldAtMs = performance.now()
  const beat = async (): Promise<void> => {
    const beganAtMs = performance.now()
    await addNotes(store, place, [{ kind: 'claim', name: owner, key: 0, value: 0 }])
    heldAtMs = beganAtMs
  }
  await beat()
  // A beat that fails is repeated. If none succeeds for long enough, the claim is lost.
  const timer = setInterval(() => void beat().catch(() => undefined), beatMs)
  const release = async (): Promise<void> => {
    clearInterval(timer)
    await addNotes(store, place, [{ kind: 'released', name: owner, key: 0, value: 0 }])
  }
  try {
    do await sleep(visibleAfterMs, undefined, { signal })
    while ((await firstClaimant(store, place, leaseMs)) !== owner)
  } catch (error) {
    await release().catch(() => undefined)
    throw error
  }
  return {
    requireHeld() {
      if (performance.now() - heldAtMs < leaseMs / 2) return
      throw new LostClaimError('ClickHouse has not stored the claim of this process for too long')
    },
    release,
  }
}

async function firstClaimant(
  store: UsageStore,
  { database }: MigratedPlace,
  leaseMs: number,
): Promise<string | undefined> {
  const [first] = await store.query<{ name: string }>(
    `SELECT name FROM ${database}.roll_up_fill WHERE kind IN ('claim', 'released')
     GROUP BY name
     HAVING countIf(kind = 'released') = 0 AND max(at) > now64(6, 'UTC') - toIntervalMillisecond({leaseMs:UInt32})
     ORDER BY min(at), name LIMIT 1`,
    { leaseMs },
  )
  return first?.name
}
