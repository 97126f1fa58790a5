import type { ReactElement, ReactNode } from 'react'
import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import { planOfPeriod } from '@tollgate/domain/plans/included-units'
import { effectiveCap } from '@tollgate/domain/plans/plan-cap'
import { unbilledCap } from '@tollgate/domain/catalog/unbilled-limit'
import type { PlanSnapshot } from '@tollgate/domain/plans/plan-snapshot'
import { givesAccess } from '@tollgate/domain/purchases/access'
import { decideCancel } from '@tollgate/domain/purchases/decide-cancel'
import { planAt } from '@tollgate/domain/purchases/offered-plan'
import { reactivateRefusalOf } from '@tollgate/domain/purchases/reactivate-purchase'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { withdrawablePlan } from '@tollgate/domain/purchases/schedule-plan'
import { isEnding } from '@tollgate/domain/purchases/transitions'
import type { ShownPurchase } from '../../purchases/present-purchases.ts'
import type { ShownPack } from '../../purchases/read-pack-units.ts'
import { priceText, purchaseTexts } from '../purchase-texts.ts'
import type { Formats } from '../formats.ts'
import { PostForm } from '../post-form.tsx'
import type { Reader } from '../reader.ts'
import type { PlainKey } from '../texts/texts.ts'
import { PackUnits } from './pack-units.tsx'
import { ChargedUsage } from './charged-usage.tsx'
import type { Portal } from './portal.ts'
import type { SuspensionReason } from './read-suspension-reasons.ts'

type PurchaseCardProps = {
  readonly portal: Portal
  readonly shown: ShownPurchase
  /** Undefined if the purchase is not suspended, or if its customer cannot end the suspension. */
  readonly suspension: SuspensionReason | undefined
  /** Undefined if the purchase is not one of a pack. */
  readonly pack: ShownPack | undefined
  /** Whether packs are on offer beside the purchase. */
  readonly isOffering: boolean
  readonly now: Date
  /** False on the page of the purchase itself. */
  readonly hasLink?: boolean
  /** Shown below the usage. */
  readonly notes?: ReactNode
}

export function PurchaseCard({
  portal,
  shown,
  suspension,
  pack,
  isOffering,
  now,
  hasLink = true,
  notes,
}: PurchaseCardProps): ReactElement {
  const { purchase } = shown
  const { frame } = portal
  const { formats, t } = frame
  const words = purchaseTexts(purchase, now, t)
  const path = purchasePath(portal, purchase.reference)
  const planName = purchase.planSnapshot?.name
  // The price Free is not repeated for a plan that is called Free.
  const price =
    purchase.planSnapshot === null
      ? undefined
      : priceText(planAt(purchase, purchase.planSnapshot, now), frame)
  const facts: readonly (readonly [string, ReactElement | string])[] = [
    ...(price === undefined || price === planName ? [] : [[t('portal:price'), price] as const]),
    ...(words.date === undefined
      ? []
      : [[words.date.label, timeElement(words.date.on, formats)] as const]),
  ]
  return (
    <article className="card" aria-label={purchase.productName}>
      <div className="row spread">
        <div>
          <h2>{hasLink ? <a href={path}>{purchase.productName}</a> : planName}</h2>
          {hasLink && <p className="quiet">{planName}</p>}
        </div>
        <span className={`badge ${words.tone}`}>{words.label}</span>
      </div>
      {facts.length > 0 && (
        <dl className="facts">
          {facts.map(([label, text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
      <PlanAhead purchase={purchase} reader={frame} />
      {suspension !== undefined && <p>{t(suspensionTexts[suspension])}</p>}
      <UsageMeter shown={shown} reader={frame} />
      {pack !== undefined && (
        <PackUnits reference={purchase.reference} pack={pack} reader={frame} />
      )}
      {notes}
      <PurchaseActions portal={portal} shown={shown} isOffering={isOffering} now={now} />
    </article>
  )
}

type PlanAheadProps = { readonly purchase: Purchase; readonly reader: Reader }

/** Says which change of the plan is scheduled, or that a cancelled plan renews once more. */
function PlanAhead({ purchase, reader }: PlanAheadProps): ReactElement | null {
  const { formats, t } = reader
  const { scheduledPlan, scheduledPlanAt, nextBillingDate, planRef } = purchase
  if (isEnding(purchase)) {
    if (nextBillingDate === null) return null
    return <p>{t('portal:renewsOnceMore', { date: formats.date(nextBillingDate) })}</p>
  }
  const changesAt = scheduledPlanAt ?? nextBillingDate
  if (scheduledPlan === null || changesAt === null) return null
  const text = scheduledPlan.reference === planRef ? 'portal:newTerms' : 'portal:takesOver'
  return <p>{t(text, { plan: scheduledPlan.name, date: formats.date(changesAt) })}</p>
}

function timeElement(instant: Date, { date }: Formats): ReactElement {
  return <time dateTime={instant.toISOString()}>{date(instant)}</time>
}

const suspensionTexts: Readonly<Record<SuspensionReason, PlainKey>> = {
  disputed: 'portal:pausedDisputed',
  unpaid: 'portal:pausedUnpaid',
  'trial-ended': 'portal:pausedTrialEnded',
}

export function purchasePath({ path }: Portal, reference: string): string {
  return `${path}/purchases/${encodeURIComponent(reference)}`
}

type UsageProps = { readonly shown: ShownPurchase; readonly reader: Reader }

function UsageMeter({ shown, reader }: UsageProps): ReactElement | null {
  const { purchase, usage } = shown
  const { t, formats } = reader
  if (usage === undefined || purchase.planSnapshot === null) return null
  if (usage.charges !== undefined) return <ChargedUsage shown={shown} reader={reader} />
  const { used, carriedOverUnits, packUnits = 0, packRemaining, periodEnd } = usage
  const plan = planOfShownPeriod(purchase.planSnapshot, shown)
  const ownCapMicros = effectiveCap(plan, toMicros(carriedOverUnits))
  const capMicros = ownCapMicros === null ? null : ownCapMicros + toMicros(packUnits)
  const until =
    periodEnd === undefined ? [] : [t('portal:until', { date: formats.date(new Date(periodEnd)) })]
  const cost = (
    <>
      {packRemaining !== undefined && (
        <p className="quiet">{t('portal:packsLeft', { units: packRemaining })}</p>
      )}
      <UsageCost shown={shown} reader={reader} />
      <UnbilledLimit shown={shown} reader={reader} />
    </>
  )
  if (capMicros === null) {
    const words = [t('shared:requests', { count: used }), ...until]
    return (
      <>
        <p className="quiet">{words.join(' · ')}</p>
        {cost}
      </>
    )
  }
  const cap = numberFromMicros(capMicros)
  const isFull = toMicros(used) >= capMicros
  const id = `usage-${purchase.reference}`
  const carried =
    carriedOverUnits > 0 ? [t('portal:ofThemCarriedOver', { units: carriedOverUnits })] : []
  const words = [t('portal:usedOf', { used, count: cap }), ...carried, ...until]
  return (
    <div className="usage">
      <label htmlFor={id}>{words.join(' · ')}</label>
      <progress id={id} className={isFull ? 'full' : ''} value={Math.min(used, cap)} max={cap} />
      {isFull && <p className="bad-text">{t('portal:limitReached')}</p>}
      {cost}
    </div>
  )
}

/** The cost of usage that will be billed in addition to the price of the plan. */
function UsageCost({ shown: { purchase, usage }, reader }: UsageProps): ReactElement | null {
  const { t, formats } = reader
  if (usage === undefined || usage.overageCost === 0) return null
  const amount = formats.money(BigInt(usage.overageCost), purchase.currency)
  return <p className="quiet">{t('portal:usageCost', { amount })}</p>
}

/** The limit of unbilled usage, shown when it is reached. Usage of a trial is not billed, so it has no such limit. */
function UnbilledLimit({ shown, reader }: UsageProps): ReactElement | null {
  const { purchase, usage } = shown
  const plan = purchase.planSnapshot
  const cap = plan === null ? null : unbilledCap(planOfShownPeriod(plan, shown))
  if (plan === null || cap === null || usage === undefined) return null
  if (purchase.status === 'trialing') return null
  const carried = cap.isWidened ? toMicros(usage.carriedOverUnits) : 0n
  if (toMicros(usage.used) < cap.units + carried) return null
  const amount = reader.formats.money(BigInt(plan.terms.maxUnbilledMinor ?? 0), plan.currency)
  return <p className="bad-text">{reader.t('portal:unbilledReached', { amount })}</p>
}

/** Returns the plan with the terms of the period whose usage is shown. */
function planOfShownPeriod(plan: PlanSnapshot, { purchase, usage }: ShownPurchase): PlanSnapshot {
  return planOfPeriod(plan, purchase, { start: new Date(usage?.periodStart ?? 0) })
}

function toMicros(units: number): bigint {
  return BigInt(microsFromNumber(units) ?? 0)
}

function PurchaseActions({
  portal,
  shown: { purchase },
  isOffering,
  now,
}: Pick<PurchaseCardProps, 'portal' | 'shown' | 'isOffering' | 'now'>) {
  const { t } = portal.frame
  // A pack has no plan to change, and its cancellation would only forfeit its units.
  if (purchase.isPack) return null
  const path = `/purchases/${encodeURIComponent(purchase.reference)}`
  const decision = decideCancel(purchase, now)
  const isCancellable = decision.kind === 'schedule' || decision.kind === 'end-now'
  const isReactivable = reactivateRefusalOf(purchase, now) === undefined
  const withdrawable = withdrawablePlan(purchase)
  const plans = planChoiceLabel(purchase, now)
  if (!isCancellable && !isReactivable && !isOffering && plans === undefined) return null
  return (
    <div className="actions">
      {isReactivable && (
        <PostForm page={portal} path={`${path}/reactivate`}>
          <button className="button main" type="submit">
            {t('portal:keepThisPlan')}
          </button>
        </PostForm>
      )}
      {withdrawable !== null && purchase.endedAt === null && (
        <PostForm page={portal} path={`${path}/keep`}>
          <button className="button" type="submit">
            {t('portal:doNotChangeTo', { plan: withdrawable.name })}
          </button>
        </PostForm>
      )}
      {plans !== undefined && (
        <PostForm page={portal} path={`/products/${encodeURIComponent(purchase.productRef)}/plans`}>
          <button className="button" type="submit">
            {t(plans)}
          </button>
        </PostForm>
      )}
      {isOffering && (
        <a className="button" href={`${portal.path}${path}/packs`}>
          {t('portal:buyUnits')}
        </a>
      )}
      {isCancellable && (
        <a className="button plain" href={`${portal.path}${path}/cancel`}>
          {t('portal:cancelPlan')}
        </a>
      )}
    </div>
  )
}

/** Returns the label of the link to the product's plans. Returns undefined if the customer must do something else first. */
function planChoiceLabel(purchase: Purchase, now: Date): PlainKey | undefined {
  if (purchase.status === 'pending' || purchase.status === 'past_due') return undefined
  return givesAccess(purchase, now) ? 'portal:changePlan' : 'portal:choosePlan'
}
