import { changeOverrides } from '@tollgate/domain/purchases/change-overrides'
import { actAsSeller } from '../money/act-as-provider.ts'
import { findHeld, migrate, scheduleFor, withdrawFrom } from '../money/change-terms.ts'
import { announceBackfill, requestUnits } from '../money/correct-usage.ts'
import type { CrashingService } from '../money/crashing-service.ts'
import type { MoneyWorld } from '../money/money-world.ts'
import { setSupport, type SetSupport } from '../money/support-add-on.ts'
import { recordAt } from '../money/provider-act.ts'
import type { Player } from './player.ts'
import { agreedPrices } from './market.ts'
import type { Agree, ProviderStep } from './step.ts'
import { recordUnits } from './use-admitted.ts'

/** Plays an act of the provider about the customer of the player. The service may refuse it. */
export async function playAsProvider(player: Player, step: ProviderStep): Promise<void> {
  await player.world.act((service) => actAsProvider(service, player, step))
}

async function actAsProvider(
  service: CrashingService,
  player: Player,
  step: ProviderStep,
): Promise<void> {
  switch (step.do) {
    case 'schedule':
    case 'withdraw the change':
    case 'migrate':
      return changeTerms(service, player, step)
    case 'correct':
    case 'backfill':
      return changeUsage(service, player, step)
    case 'agree on a price':
      return agree(service, player, step)
    case 'set the support':
      return chooseSupport(service, player, step)
    default:
      return actAsSeller(service, { shop: player.market, customer: player.customer }, step)
  }
}

type ChangeTerms = Extract<
  ProviderStep,
  { readonly do: 'schedule' | 'withdraw the change' | 'migrate' }
>

/** Changes the terms of the purchase, and notes what the provider has promised. */
async function changeTerms(
  service: CrashingService,
  player: Player,
  step: ChangeTerms,
): Promise<void> {
  const { market, customer, kept } = player
  const holding = { shop: market, customer }
  const held = await findHeld(service, holding)
  if (held === undefined) return
  if (step.do === 'withdraw the change') {
    await withdrawFrom(service, holding)
    kept.delete(held.reference)
    return
  }
  const request = { ...step, planRef: market.planRefs[step.plan] }
  const isScheduled =
    step.do === 'migrate'
      ? await migrate(service, holding, request)
      : await scheduleFor(service, holding, { ...request, hours: step.days * 24 })
  if (!isScheduled) return
  if (step.billing === 'keep_period') kept.set(held.reference, step.plan)
  else kept.delete(held.reference)
}

/** Agrees on the price of a plan, from the next period on. Without a plan, the agreement ends. */
async function agree(
  service: CrashingService,
  { market, customer, agreements, world }: Player,
  { plan }: Agree,
): Promise<void> {
  const { providerId, productRef, planRefs } = market
  const prices = plan === undefined ? [] : [{ planRef: planRefs[plan], price: agreedPrices[plan] }]
  const names = { customerRef: customer.reference, productRef }
  const outcome = await service.parts.commit(service.operation(providerId), (work) =>
    changeOverrides(work, names, { charges: [], usageLimits: [], prices }),
  )
  if (outcome.kind === 'changed') agreements.push({ at: world.now, plan })
}

async function chooseSupport(
  service: CrashingService,
  { market, customer, supportChoices, world }: Player,
  step: SetSupport,
): Promise<void> {
  const set = await setSupport(service, { shop: market, customer }, step)
  if (set === undefined) return
  const { quantity, when } = step
  supportChoices.push({ at: world.now, quantity, when, ...set })
}

type ChangeUsage = Extract<ProviderStep, { readonly do: 'correct' | 'backfill' }>

/** Corrects a record of the player, or records further units at its time. A wallet is only debited for usage of now. */
async function changeUsage(
  service: CrashingService,
  player: Player,
  step: ChangeUsage,
): Promise<void> {
  const { market, customer, admitted, world } = player
  const own = recordAt(admitted, step.place)
  if (own === undefined) return
  const holding = { shop: market, customer }
  if (step.do === 'correct') {
    await requestUnits(service, holding, { id: own.id, units: step.units })
    await inTurn(world, () => service.applyCorrections())
    own.units = step.units
    return
  }
  if (own.plan === 'wallet' || world.now.getTime() === own.at.getTime()) return
  await announceBackfill(service, holding, own.at)
  const id = await recordUnits(player, step.units, own.at)
  admitted.push({ at: own.at, plan: own.plan, id, units: step.units })
}

const turns = new WeakMap<MoneyWorld, Promise<void>>()

/** Runs `body` after those of other players, so that none of them is still applying the correction when it returns. */
function inTurn(world: MoneyWorld, body: () => Promise<void>): Promise<void> {
  const turn = (turns.get(world) ?? Promise.resolve()).then(body)
  turns.set(
    world,
    turn.catch(() => undefined),
  )
  return turn
}
