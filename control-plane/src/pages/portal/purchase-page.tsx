import type { ReactElement } from 'react'
import { isCreditBased } from '@tollgate/domain/plans/plan'
import { costsSomething, usageTermsOf } from '@tollgate/domain/pricing/usage-terms'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { CancelDecision } from '@tollgate/domain/purchases/decide-cancel'
import type { ShownPurchase } from '../../purchases/present-purchases.ts'
import type { Formats } from '../formats.ts'
import { UsageChart } from '../usage-chart.tsx'
import { PostForm } from '../post-form.tsx'
import type { MeterChart } from './purchase-usage-charts.ts'
import { PurchaseCard, purchasePath } from './purchase-card.tsx'
import type { Portal } from './portal.ts'
import type { Notice } from '../notice.tsx'
import { PortalPage } from './portal-page.tsx'
import type { Pause } from './read-pauses.ts'

type PurchasePageProps = {
  readonly portal: Portal
  readonly shown: ShownPurchase
  readonly pause: Pause | undefined
  /** Undefined where usage cannot be read now. */
  readonly charts: readonly MeterChart[] | undefined
  readonly now: Date
  readonly notice: Notice | undefined
}

export function PurchasePage({
  portal,
  shown,
  pause,
  charts,
  now,
  notice,
}: PurchasePageProps): ReactElement {
  const { purchase } = shown
  return (
    <PortalPage portal={portal} section="plans" title={purchase.productName} notice={notice}>
      <p>
        <a href={portal.path}>← All plans</a>
      </p>
      <h1>{purchase.productName}</h1>
      <PurchaseCard portal={portal} shown={shown} pause={pause} now={now} hasLink={false} />
      <section className="card">
        <h2>Usage</h2>
        {charts === undefined ? (
          <p className="quiet">Usage over time cannot be shown at the moment.</p>
        ) : (
          charts.map(({ meterName, title, bars }) => (
            <UsageChart
              key={meterName}
              title={title}
              bars={bars}
              now={now}
              formats={portal.frame.formats}
            />
          ))
        )}
      </section>
      <PurchaseFacts purchase={purchase} formats={portal.frame.formats} />
    </PortalPage>
  )
}

function PurchaseFacts(props: {
  readonly purchase: Purchase
  readonly formats: Formats
}): ReactElement {
  const { purchase, formats } = props
  const { planSnapshot } = purchase
  const { freeUnits, limit, creditsPerUnit, overagePolicy } = planSnapshot?.terms ?? {}
  const isCredited = planSnapshot !== null && isCreditBased(planSnapshot)
  const limitLabel = overagePolicy?.allowOverage === true ? 'Included requests' : 'Limit'
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Reference', purchase.reference],
    ['Started', formats.date(purchase.startDate)],
    ['Last paid', purchase.paidAt === null ? undefined : formats.date(purchase.paidAt)],
    ['Free requests', positive(freeUnits, formats)],
    [limitLabel, positive(limit, formats)],
    ['Credits per request', isCredited ? positive(creditsPerUnit, formats) : undefined],
    ['Reason given', purchase.cancellationReason ?? undefined],
  ]
  return (
    <section className="card">
      <h2>Details</h2>
      <dl className="facts">
        {facts.map(([label, text]) =>
          text === undefined ? null : (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  )
}

function positive(value: number | undefined, { count }: Formats): string | undefined {
  return value === undefined || value <= 0 ? undefined : count(value)
}

type CancelPageProps = {
  readonly portal: Portal
  readonly purchase: Purchase
  readonly decision: Extract<CancelDecision, { kind: 'schedule' | 'end-now' }>
}

export function CancelPage({ portal, purchase, decision }: CancelPageProps): ReactElement {
  const path = `/purchases/${encodeURIComponent(purchase.reference)}/cancel`
  const name = purchase.planSnapshot?.name ?? purchase.productName
  return (
    <PortalPage portal={portal} section="plans" title="Cancel plan">
      <div className="card narrow">
        <h1>{`Cancel ${name}?`}</h1>
        <Consequences
          decision={decision}
          hasBilledUsage={hasBilledUsage(purchase)}
          formats={portal.frame.formats}
        />
        <PostForm page={portal} path={path}>
          <label htmlFor="reason">
            Why do you leave? <span className="quiet">(optional)</span>
          </label>
          <textarea id="reason" name="reason" rows={3} maxLength={500} />
          <div className="actions">
            <button className="button danger" type="submit">
              Cancel plan
            </button>
            <a className="button" href={purchasePath(portal, purchase.reference)}>
              Keep it
            </a>
          </div>
        </PostForm>
      </div>
    </PortalPage>
  )
}

function hasBilledUsage({ planSnapshot }: Purchase): boolean {
  const billed = planSnapshot === null ? undefined : usageTermsOf(planSnapshot)
  return billed !== undefined && costsSomething(billed)
}

function Consequences(props: {
  readonly decision: CancelPageProps['decision']
  readonly hasBilledUsage: boolean
  readonly formats: Formats
}): ReactElement {
  const { decision, hasBilledUsage: isBilled, formats } = props
  if (decision.kind === 'end-now') {
    return (
      <p>
        <strong>It ends at once.</strong> You cannot use it any more from that moment on, and this
        cannot be taken back.{isBilled && ' What you used until then is billed.'}
      </p>
    )
  }
  const day = formats.date(decision.endDate)
  const { renewsAt } = decision
  return (
    <ul>
      {renewsAt !== null && (
        <li>{`The notice for the running period has passed. It still renews on ${formats.date(renewsAt)}, and is charged then.`}</li>
      )}
      <li>{`You can go on using it until ${day}.`}</li>
      <li>
        {isBilled
          ? 'It does not renew after that. What you use until then is still billed.'
          : 'It does not renew after that, and nothing more is charged for it.'}
      </li>
      <li>{`Until ${day} you can change your mind.`}</li>
    </ul>
  )
}
