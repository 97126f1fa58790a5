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
  const name = nameOf(player.market, answer.plan ?? null)
  await expectCovered(player, name, units)
  if (name === 'wallet') await debit(player, units)
  else await record(player, { micros: BigInt(units) * microsPerUnit })
  player.admitted.push({ at: player.world.now, plan: name, units })
}

type Used = {
  readonly micros: bigint
  readonly debit?: { readonly usageRef: string; readonly micros: bigint }
}

function record({ world, market, customer }: Player, used: Used): Promise<void> {
  const { providerId, productRef } = market
  const fields = { providerId, productRef, customerRef: customer.reference }
  return world.stores.usageLog.record({ ...fields, ...used, at: world.now })
}

async function debit(player: Player, units: number): Promise<void> {
  const { world, market, customer } = player
  const { usageLog: log, hotState } = world.stores
  const dueMicros = BigInt(units) * BigInt(plans.wallet.creditsPerUnit) * microsPerUnit
  const usageRef = `usage_${randomUUID()}`
  const due = {
    environment,
    providerId: market.providerId,
    customerRef: customer.reference,
    usageRef,
    dueMicros,
    isKeyed: false,
  } as const
  const { heldMicros } = await holdUsageCredits({ log, hotState }, due, walletLimits)
  await record(player, {
    micros: BigInt(units) * microsPerUnit,
    debit: { usageRef, micros: heldMicros },
  })
  if (heldMicros !== dueMicros) throw new Error(`${heldMicros} of ${dueMicros} credits were taken`)
}
