import { randomUUID } from 'node:crypto'
import { holdUsageCredits } from '@tollgate/domain/wallet/hold-usage-credits'
import { environment } from '../money/environment.ts'
import { walletLimits } from '../money/crashing-service.ts'
import { checkLimit } from './check-limit.ts'
import { expectCovered } from './expect-covered.ts'
import { nameOf, plans } from './market.ts'
import type { Player } from './player.ts'

const microsPerUnit = 1_000_000n

/** Uses what the limit check admits, after checking that it is paid or promised. */
export async function useAdmitted(player: Player, unitsMax: number): Promise<void> {
  const answer = await checkLimit(player)
  if (answer === undefined || !answer.withinLimits) return
  const units = Math.floor(Math.min(unitsMax, answer.remaining))
  const plan = nameOf(player.market, answer.plan ?? null)
  await expectCovered(player, plan, units)
  const at = player.world.now
  const id = await (plan === 'wallet' ? debit(player, units) : recordUnits(player, units, at))
  player.admitted.push({ at, plan, id, units })
}

/** Records units for a time, now or in the past. Returns the id of the record. */
export async function recordUnits(player: Player, units: number, at: Date): Promise<string> {
  const id = newId()
  await record(player, { id, at, micros: BigInt(units) * microsPerUnit })
  return id
}

function newId(): string {
  return `usage_${randomUUID()}`
}

type Used = {
  readonly id: string
  readonly at: Date
  readonly micros: bigint
  /** Debit of the wallet, in 10^-6 credits. */
  readonly debitMicros?: bigint
}

function record({ world, market, customer }: Player, used: Used): Promise<void> {
  const { providerId, productRef } = market
  const fields = { providerId, productRef, customerRef: customer.reference }
  return world.stores.usageLog.record({ ...fields, ...used })
}

async function debit(player: Player, units: number): Promise<string> {
  const { world, market, customer } = player
  const { usageLog: log, hotState } = world.stores
  const dueMicros = BigInt(units) * BigInt(plans.wallet.creditsPerUnit) * microsPerUnit
  const id = newId()
  const due = {
    environment,
    providerId: market.providerId,
    customerRef: customer.reference,
    usageRef: id,
    dueMicros,
    isKeyed: false,
  } as const
  const { heldMicros } = await holdUsageCredits({ log, hotState }, due, walletLimits)
  const micros = BigInt(units) * microsPerUnit
  await record(player, { id, at: world.now, micros, debitMicros: heldMicros })
  if (heldMicros !== dueMicros) throw new Error(`${heldMicros} of ${dueMicros} credits were taken`)
  return id
}
