import type { ReactElement } from 'react'
import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import { effectiveCap } from '@tollgate/domain/plans/plan-cap'
import { givesAccess } from '@tollgate/domain/purchases/access'
import { decideCancel } from '@tollgate/domain/purchases/decide-cancel'
import { hasTrial } from '@tollgate/domain/purchases/new-purchase'
import { refusalOf } from '@tollgate/domain/purchases/reactivate-purchase'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { ShownPurchase } from '../../purchases/present-purchases.ts'
import type { Formats } from '../formats.ts'
import { priceWords, purchaseWords } from '../purchase-words.ts'
import { PostForm } from '../post-form.tsx'
import type { Portal } from './portal.ts'

type PurchaseCardProps = {
  readonly portal: Portal
  readonly shown: ShownPurchase
  readonly now: Date
  /** False on the purchase's own page. */
  readonly hasLink?: boolean
}

export function PurchaseCard({
  portal,
  shown,
  now,
  hasLink = true,
}: PurchaseCardProps): ReactElement {
  const { purchase } = shown
  const { formats } = portal.frame
  const words = purchaseWords(purchase, now)
  const path = purchasePath(portal, purchase.reference)
  const planName = purchase.planSnapshot?.name
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
      {hasUnpaidTrial(purchase) && <p>The trial has ended. Choose a plan to go on.</p>}
      <UsageMeter shown={shown} formats={formats} />
      <PurchaseActions portal={portal} shown={shown} now={now} />
    </article>
  )
}

/** Paused because there was no card to pay with when its trial ended. */
function hasUnpaidTrial({ status, planSnapshot, paidAt }: Purchase): boolean {
  return (
    status === 'suspended' && paidAt === null && planSnapshot !== null && hasTrial(planSnapshot)
  )
}

export function purchasePath({ path }: Portal, reference: string): string {
  return `${path}/purchases/${encodeURIComponent(reference)}`
}

function UsageMeter(props: { readonly shown: ShownPurchase; readonly formats: Formats }) {
  const { purchase, usage } = props.shown
  const { count, date } = props.formats
  if (usage === undefined || purchase.planSnapshot === null) return null
  const { used, carriedOverUnits } = usage
  const capMicros = effectiveCap(purchase.planSnapshot, micros(carriedOverUnits))
  const resets = usage.periodEnd === undefined ? '' : `, until ${date(new Date(usage.periodEnd))}`
  const carried = carriedOverUnits > 0 ? `, ${count(carriedOverUnits)} of them carried over` : ''
  const cost = <UsageCost shown={props.shown} formats={props.formats} />
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

function micros(units: number): bigint {
  return BigInt(microsFromNumber(units) ?? 0)
}

function PurchaseActions({ portal, shown: { purchase }, now }: PurchaseCardProps) {
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
