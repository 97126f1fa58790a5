import type { ReactElement } from 'react'
import { attachedTo } from '@tollgate/domain/plans/add-ons'
import { isCreditBased } from '@tollgate/domain/plans/plan'
import { chargesUsageLater } from '@tollgate/domain/pricing/billed-charges'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { PreviewedInvoice } from '@tollgate/domain/previews/price-invoices'
import type { CancelDecision } from '@tollgate/domain/purchases/decide-cancel'
import type { ShownPurchase } from '../../purchases/present-purchases.ts'
import type { ShownPack } from '../../purchases/read-pack-units.ts'
import type { Formats } from '../formats.ts'
import type { Reader } from '../reader.ts'
import type { PlainKey } from '../texts/texts.ts'
import { UsageChart } from '../usage-chart.tsx'
import { PostForm } from '../post-form.tsx'
import type { MeterChart } from './purchase-usage-charts.ts'
import { BudgetSection } from './budget-section.tsx'
import { ReachedThresholds } from './reached-thresholds.tsx'
import type { SpendControl } from './read-spend-control.ts'
import { PurchaseCard, purchasePath } from './purchase-card.tsx'
import type { Portal } from './portal.ts'
import type { Notice } from '../notice.tsx'
import { PortalPage } from './portal-page.tsx'
import type { SuspensionReason } from './read-suspension-reasons.ts'

type PurchasePageProps = {
  readonly portal: Portal
  readonly shown: ShownPurchase
  readonly suspension: SuspensionReason | undefined
  /** Undefined if the purchase is not one of a pack. */
  readonly pack: ShownPack | undefined
  /** Whether packs are on offer beside the purchase. */
  readonly isOffering: boolean
  /** Undefined if usage cannot be read now. */
  readonly charts: readonly MeterChart[] | undefined
  readonly control: SpendControl
  /** Whether the customer has add-ons, or can attach some. */
  readonly hasAddOns: boolean
  readonly now: Date
  readonly notice: Notice | undefined
}

export function PurchasePage({
  portal,
  shown,
  suspension,
  pack,
  isOffering,
  charts,
  control,
  hasAddOns,
  now,
  notice,
}: PurchasePageProps): ReactElement {
  const { purchase } = shown
  const { frame } = portal
  const { t } = frame
  return (
    <PortalPage portal={portal} section="plans" title={purchase.productName} notice={notice}>
      <p>
        <a href={portal.path}>{t('portal:allPlans')}</a>
      </p>
      <h1>{purchase.productName}</h1>
      <PurchaseCard
        portal={portal}
        shown={shown}
        suspension={suspension}
        pack={pack}
        isOffering={isOffering}
        now={now}
        hasLink={false}
        notes={<ReachedThresholds reached={control.reached} reader={frame} />}
      />
      {!purchase.isPack && (
        <>
          {hasAddOns && <AddOnsSection portal={portal} purchase={purchase} />}
          <BudgetSection portal={portal} purchase={purchase} control={control} now={now} />
          <UsageSection charts={charts} now={now} reader={frame} />
        </>
      )}
      <PurchaseFacts purchase={purchase} reader={frame} />
    </PortalPage>
  )
}

function AddOnsSection(props: {
  readonly portal: Portal
  readonly purchase: Purchase
}): ReactElement {
  const { portal, purchase } = props
  const { t, formats } = portal.frame
  return (
    <section className="card">
      <h2>{t('portal:addOns')}</h2>
      <ul>
        {attachedTo(purchase.planSnapshot).map(({ reference, name, quantity }) => (
          <li key={reference}>
            {t('portal:addOnReview', { quantity: formats.count(quantity), addOn: name })}
          </li>
        ))}
      </ul>
      <a className="button" href={`${purchasePath(portal, purchase.reference)}/add-ons`}>
        {t('portal:addOns')}
      </a>
    </section>
  )
}

function UsageSection(props: {
  readonly charts: PurchasePageProps['charts']
  readonly now: Date
  readonly reader: Reader
}): ReactElement {
  const { charts, now, reader } = props
  const { t } = reader
  return (
    <section className="card">
      <h2>{t('portal:usage')}</h2>
      {charts === undefined ? (
        <p className="quiet">{t('portal:usageUnavailable')}</p>
      ) : (
        charts.map(({ meterName, title, bars }) => (
          <UsageChart
            key={meterName}
            title={title ?? t('portal:meterRequests')}
            bars={bars}
            now={now}
            reader={reader}
          />
        ))
      )}
    </section>
  )
}

function PurchaseFacts(props: {
  readonly purchase: Purchase
  readonly reader: Reader
}): ReactElement {
  const { purchase, reader } = props
  const { t, formats } = reader
  const { planSnapshot } = purchase
  const { freeUnits, limit, creditsPerUnit, overagePolicy } = planSnapshot?.terms ?? {}
  const isCredited = planSnapshot !== null && isCreditBased(planSnapshot)
  const limitLabel =
    overagePolicy?.allowOverage === true ? 'portal:factIncluded' : 'portal:factLimit'
  const facts: readonly (readonly [PlainKey, string | undefined])[] = [
    ['portal:factReference', purchase.reference],
    ['portal:factStarted', formats.date(purchase.startDate)],
    ['portal:factLastPaid', purchase.paidAt === null ? undefined : formats.date(purchase.paidAt)],
    ['portal:factFreeRequests', positiveCount(freeUnits, formats)],
    [limitLabel, positiveCount(limit, formats)],
    [
      'portal:factCreditsPerRequest',
      isCredited ? positiveCount(creditsPerUnit, formats) : undefined,
    ],
    ['portal:factReason', purchase.cancellationReason ?? undefined],
  ]
  return (
    <section className="card">
      <h2>{t('portal:details')}</h2>
      <dl className="facts">
        {facts.map(([label, text]) =>
          text === undefined ? null : (
            <div key={label}>
              <dt>{t(label)}</dt>
              <dd>{text}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  )
}

function positiveCount(value: number | undefined, { count }: Formats): string | undefined {
  return value === undefined || value <= 0 ? undefined : count(value)
}

type CancelPageProps = {
  readonly portal: Portal
  readonly purchase: Purchase
  readonly decision: Extract<CancelDecision, { kind: 'schedule' | 'end-now' }>
  /** The invoices that follow. Empty if they cannot be computed now. */
  readonly invoices: readonly PreviewedInvoice[]
}

export function CancelPage({
  portal,
  purchase,
  decision,
  invoices,
}: CancelPageProps): ReactElement {
  const path = `/purchases/${encodeURIComponent(purchase.reference)}/cancel`
  const plan = purchase.planSnapshot?.name ?? purchase.productName
  const { t } = portal.frame
  return (
    <PortalPage portal={portal} section="plans" title={t('portal:cancelPlan')}>
      <div className="card narrow">
        <h1>{t('portal:cancelQuestion', { plan })}</h1>
        <Consequences
          decision={decision}
          hasBilledUsage={hasBilledUsage(purchase)}
          reader={portal.frame}
        />
        <ChargesAhead invoices={invoices} reader={portal.frame} />
        <PostForm page={portal} path={path}>
          <label htmlFor="reason">
            {t('portal:whyLeaving')} <span className="quiet">{t('shared:optional')}</span>
          </label>
          <textarea id="reason" name="reason" rows={3} maxLength={500} />
          <div className="actions">
            <button className="button danger" type="submit">
              {t('portal:cancelPlan')}
            </button>
            <a className="button" href={purchasePath(portal, purchase.reference)}>
              {t('portal:keepIt')}
            </a>
          </div>
        </PostForm>
      </div>
    </PortalPage>
  )
}

function hasBilledUsage({ planSnapshot }: Purchase): boolean {
  return planSnapshot !== null && chargesUsageLater(planSnapshot)
}

/** What is still charged, with its tax. */
function ChargesAhead(props: {
  readonly invoices: readonly PreviewedInvoice[]
  readonly reader: Reader
}): ReactElement | null {
  const { invoices, reader } = props
  const { t, formats } = reader
  const charged = invoices.filter(({ dueMinor }) => dueMinor > 0n)
  if (charged.length === 0) return null
  return (
    <ul>
      {charged.map(({ cause, currency, dueMinor, at }) => {
        const amount = formats.money(dueMinor, currency)
        const date = at && formats.date(at)
        const key = cause === 'renewal' ? 'portal:chargedAhead' : 'portal:usageChargedAhead'
        return date === undefined ? null : (
          <li key={`${cause}:${date}`}>{t(key, { amount, date })}</li>
        )
      })}
    </ul>
  )
}

function Consequences(props: {
  readonly decision: CancelPageProps['decision']
  readonly hasBilledUsage: boolean
  readonly reader: Reader
}): ReactElement {
  const { decision, hasBilledUsage: isBilled, reader } = props
  const { t, formats } = reader
  if (decision.kind === 'end-now') {
    return (
      <p>
        <strong>{t('portal:endsNow')}</strong>{' '}
        {isBilled ? t('portal:endsNowBilled') : t('portal:endsNowText')}
      </p>
    )
  }
  const date = formats.date(decision.endDate)
  const { renewsAt } = decision
  return (
    <ul>
      {renewsAt !== null && <li>{t('portal:noticePassed', { date: formats.date(renewsAt) })}</li>}
      <li>{t('portal:usableUntil', { date })}</li>
      <li>{isBilled ? t('portal:noRenewalBilled') : t('portal:noRenewal')}</li>
      <li>{t('portal:canChangeMind', { date })}</li>
    </ul>
  )
}
