import { changeOverrides } from '@tollgate/domain/purchases/change-overrides'
import { actAsSeller } from './act-as-provider.ts'
import { migrate, scheduleFor, withdrawFrom } from './change-terms.ts'
import { announceBackfill, requestUnits } from './correct-usage.ts'
import type { CrashingService } from './crashing-service.ts'
import type { StoryContext } from './story-context.ts'
import { recordAt, type ProviderAct } from './provider-act.ts'
import type { PlanName } from './shop.ts'
import type { AgreedPrice } from './story.ts'

/** Plays an act of the provider about the customer of the story. A process that dies gives no answer. */
export async function playProviderAct(
  context: StoryContext,
  act: ProviderAct<PlanName> | AgreedPrice,
): Promise<void> {
  await context.world.act((service) => play(service, context, act))
}

async function play(
  service: CrashingService,
  context: StoryContext,
  act: ProviderAct<PlanName> | AgreedPrice,
): Promise<void> {
  const { shop } = context
  switch (act.do) {
    case 'schedule': {
      const planRef = shop.planRefs[act.plan]
      await scheduleFor(service, context, { ...act, planRef, hours: act.days * 24 })
      return
    }
    case 'migrate':
      await migrate(service, context, { ...act, planRef: shop.planRefs[act.plan] })
      return
    case 'withdraw the change':
      return withdrawFrom(service, context)
    case 'correct':
    case 'backfill':
      return changeUsage(service, context, act)
    case 'agree a price':
      return agreePrice(service, context, act)
    default:
      return actAsSeller(service, context, act)
  }
}

type ChangeUsage = Extract<ProviderAct<PlanName>, { readonly do: 'correct' | 'backfill' }>

/** Requests a correction of a record, which a job applies, or records further units at its time. */
async function changeUsage(
  service: CrashingService,
  context: StoryContext,
  act: ChangeUsage,
): Promise<void> {
  const { world, customer, shop } = context
  const { usageLog } = world.stores
  const own = usageLog.records.filter(
    ({ customerRef, debitMicros, event }) =>
      customerRef === customer.reference && debitMicros === undefined && event.source === 'usages',
  )
  const record = recordAt(own, act.place)
  if (record === undefined) return
  if (act.do === 'correct') {
    return requestUnits(service, context, { id: record.event.id, units: act.units })
  }
  await announceBackfill(service, context, record.at)
  const { providerId, productRef } = shop
  const fields = { providerId, productRef, customerRef: customer.reference }
  await usageLog.record({ ...fields, micros: BigInt(act.units) * 1_000_000n, at: record.at })
}

/** Agrees the price of a period of a plan with the customer, as by the API. */
async function agreePrice(
  service: CrashingService,
  { shop, customer }: StoryContext,
  { plan, price }: AgreedPrice,
): Promise<void> {
  const names = { customerRef: customer.reference, productRef: shop.productRef }
  const prices = [{ planRef: shop.planRefs[plan], price }]
  const overrides = { charges: [], usageLimits: [], prices }
  await service.parts.commit(service.operation(shop.providerId), (work) =>
    changeOverrides(work, names, overrides),
  )
}
