import type { ReactElement } from 'react'
import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import { planOfPeriod } from '@tollgate/domain/plans/included-units'
import { effectiveCap } from '@tollgate/domain/plans/plan-cap'
import { unbilledCap } from '@tollgate/domain/plans/unbilled-limit'
import type { PlanSnapshot } from '@tollgate/domain/purchases/plan-snapshot'
import { givesAccess } from '@tollgate/domain/purchases/access'
import { decideCancel } from '@tollgate/domain/purchases/decide-cancel'
import { refusalOf } from '@tollgate/domain/purchases/reactivate-purchase'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { isEnding } from '@tollgate/domain/purchases/transitions'
import type { ShownPurchase } from '../../purchases/present-purchases.ts'
import type { Formats } from '../formats.ts'
import { priceWords, purchaseWords } from '../purchase-words.ts'
import { PostForm } from '../post-form.tsx'
import type { Portal } from './portal.ts'
import type { Pause } from './read-pauses.ts'

type PurchaseCardProps = {
  readonly portal: Portal
  readonly shown: ShownPurchase
  /** Undefined if it is not suspended, or its customer can do nothing about that. */
  readonly pause: Pause | undefined
  readonly now: Date
  /** False on the purchase's own page. */
  readonly hasLink?: boolean
}

export function PurchaseCard({
  portal,
  shown,
  pause,
  now,
  hasLink = true,
}: PurchaseCardProps): ReactElement {
  const { purchase } = shown
  const { formats } = portal.frame
  const words = purchaseWords(purchase, now)
  const path = purchasePath(portal, purchase.reference)
  const planName = purchase.planSnapshot?.name
  const changesAt = purchase.scheduledPlanAt ?? purchase.nextBillingDate
  return (
    <article className="card" aria-label={purchase.productName}>
      <div className="row spread">
        <div>
          <h2>{hasLink ? <a href={path}>{purchase.productName}</a> : planName}</h2>
          {hasLink && <p className="quiet">{planName}</p>}
        </div>
        <span className={`badge ${words.tone}`}>{words.label}</span>
      </div>
      <dl className="facts">
        {purchase.planSnapshot !== null && (
          <div>
            <dt>Price</dt>
            <dd>{priceWords(purchase.planSnapshot, formats)}</dd>
          </div>
        )}
        {words.date !== undefined && (
          <div>
            <dt>{words.date.label}</dt>
            <dd>
              <time dateTime={words.date.on.toISOString()}>{formats.date(words.date.on)}</time>
            </dd>
          </div>
        )}
      </dl>
      {purchase.scheduledPlan !== null && changesAt !== null && !isEnding(purchase) && (
        <p>{`${purchase.scheduledPlan.name} starts on ${formats.date(changesAt)} and takes its place.`}</p>
      )}
      {isEnding(purchase) && purchase.nextBillingDate !== null && (
        <p>{`It still renews on ${formats.date(purchase.nextBillingDate)}, because its notice had passed.`}</p>
      )}
      {pause !== undefined && <p>{pauseWords[pause]}</p>}
      <UsageMeter shown={shown} formats={formats} />
      <PurchaseActions portal={portal} shown={shown} now={now} />
    </article>
  )
}

const pauseWords: Readonly<Record<Pause, string>> = {
  disputed:
    'A payment for it was disputed at your bank. Save another card, then choose a plan to go on.',
  unpaid: 'An invoice is not paid. The plan goes on as soon as it is.',
  'trial-ended': 'The trial has ended. Choose a plan to go on.',
}

export function purchasePath({ path }: Portal, reference: string): string {
  return `${path}/purchases/${encodeURIComponent(reference)}`
}

function UsageMeter(props: { readonly shown: ShownPurchase; readonly formats: Formats }) {
  const { purchase, usage } = props.shown
  const { count, date } = props.formats
  if (usage === undefined || purchase.planSnapshot === null) return null
  const { used, carriedOverUnits } = usage
  const plan = planShown(purchase.planSnapshot, props.shown)
  const capMicros = effectiveCap(plan, micros(carriedOverUnits))
  const resets = usage.periodEnd === undefined ? '' : `, until ${date(new Date(usage.periodEnd))}`
  const carried = carriedOverUnits > 0 ? `, ${count(carriedOverUnits)} of them carried over` : ''
  const cost = (
    <>
      <UsageCost shown={props.shown} formats={props.formats} />
      <UnbilledLimit shown={props.shown} formats={props.formats} />
    </>
  )
  if (capMicros === null) {
    return (
      <>
        <p className="quiet">{`${count(used)} requests${resets}`}</p>
        {cost}
      </>
    )
  }
  const cap = numberFromMicros(capMicros)
  const isFull = micros(used) >= capMicros
  const id = `usage-${purchase.reference}`
  return (
    <div className="usage">
      <label htmlFor={id}>{`${count(used)} of ${count(cap)} requests${carried}${resets}`}</label>
      <progress id={id} className={isFull ? 'full' : ''} value={Math.min(used, cap)} max={cap} />
      {isFull && <p className="bad-text">The limit of this period is reached.</p>}
      {cost}
    </div>
  )
}

/** What will be billed beside the price of the plan. */
function UsageCost(props: { readonly shown: ShownPurchase; readonly formats: Formats }) {
  const { purchase, usage } = props.shown
  if (usage === undefined || usage.overageCost === 0) return null
  const cost = props.formats.money(BigInt(usage.overageCost), purchase.currency)
  return <p className="quiet">{`Usage of this period costs ${cost} so far, without tax.`}</p>
}

/** Shown when it is reached. The usage of a trial is not billed, and so has no such limit. */
function UnbilledLimit({
  shown: { purchase, usage },
  formats,
}: Pick<PurchaseCardProps, 'shown'> & {
  readonly formats: Formats
}) {
  const plan = purchase.planSnapshot
  const cap = plan === null ? null : unbilledCap(planShown(plan, { purchase, usage }))
  if (plan === null || cap === null || usage === undefined) return null
  if (purchase.status === 'trialing') return null
  const carried = cap.isWidened ? micros(usage.carriedOverUnits) : 0n
  if (micros(usage.used) < cap.units + carried) return null
  const most = formats.money(BigInt(plan.terms.maxUnbilledMinor ?? 0), plan.currency)
  return (
    <p className="bad-text">
      {`Usage that is not billed yet has reached ${most}, the most that this plan allows.`}
    </p>
  )
}

/** The plan as it holds in the period whose usage is shown. */
function planShown(plan: PlanSnapshot, { purchase, usage }: ShownPurchase): PlanSnapshot {
  return planOfPeriod(plan, purchase, { start: new Date(usage?.periodStart ?? 0) })
}

function micros(units: number): bigint {
  return BigInt(microsFromNumber(units) ?? 0)
}

function PurchaseActions({
  portal,
  shown: { purchase },
  now,
}: Pick<PurchaseCardProps, 'portal' | 'shown' | 'now'>) {
  const path = `/purchases/${encodeURIComponent(purchase.reference)}`
  const decision = decideCancel(purchase, now)
  const isCancellable = decision.kind === 'schedule' || decision.kind === 'end-now'
  const isReactivable = refusalOf(purchase, now) === undefined
  const plans = planChoice(purchase, now)
  if (!isCancellable && !isReactivable && plans === undefined) return null
  return (
    <div className="actions">
      {isReactivable && (
        <PostForm page={portal} path={`${path}/reactivate`}>
          <button className="button main" type="submit">
            Keep this plan
          </button>
        </PostForm>
      )}
      {purchase.scheduledPlan !== null && purchase.endedAt === null && (
        <PostForm page={portal} path={`${path}/keep`}>
          <button className="button" type="submit">
            {`Do not change to ${purchase.scheduledPlan.name}`}
          </button>
        </PostForm>
      )}
      {plans !== undefined && (
        <PostForm page={portal} path={`/products/${encodeURIComponent(purchase.productRef)}/plans`}>
          <button className="button" type="submit">
            {plans}
          </button>
        </PostForm>
      )}
      {isCancellable && (
        <a className="button plain" href={`${portal.path}${path}/cancel`}>
          Cancel plan
        </a>
      )}
    </div>
  )
}

/** What the plans of its product are looked at for; undefined where something else comes first. */
function planChoice(purchase: Purchase, now: Date): string | undefined {
  if (purchase.status === 'pending' || purchase.status === 'past_due') return undefined
  return givesAccess(purchase, now) ? 'Change plan' : 'Choose a plan'
}
