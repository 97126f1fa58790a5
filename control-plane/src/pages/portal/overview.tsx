import type { ReactElement } from 'react'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { isLapsed, hasStatusWithAccess } from '@tollgate/domain/purchases/access'
import {
  shownPurchasesOf,
  type PurchaseViewParts,
  type ShownPurchase,
} from '../../purchases/present-purchases.ts'
import { readPackUnits, type ShownPack } from '../../purchases/read-pack-units.ts'
import { purchaseTexts } from '../purchase-texts.ts'
import { PostForm } from '../post-form.tsx'
import { readOfferedProducts, type OfferedProduct } from './offered-products.ts'
import { productsWithPacks, takesPacks } from './offered-packs.ts'
import { PurchaseCard, purchasePath } from './purchase-card.tsx'
import type { Portal } from './portal.ts'
import type { Notice } from '../notice.tsx'
import { PortalPage } from './portal-page.tsx'
import { readSuspensionReasons, type SuspensionReason } from './read-suspension-reasons.ts'
import { readUnpaid, UnpaidInvoices } from './unpaid-invoices.tsx'

type Overview = {
  readonly current: readonly ShownPurchase[]
  readonly past: readonly ShownPurchase[]
  readonly offered: readonly OfferedProduct[]
  readonly unpaid: readonly Invoice[]
  readonly suspensions: ReadonlyMap<string, SuspensionReason>
  /** The units of bought packs by the references of their purchases. */
  readonly packs: ReadonlyMap<string, ShownPack>
  /** References of the purchases beside which packs are on offer. */
  readonly offering: ReadonlySet<string>
}

/** Statuses in which the customer has something to do or to wait for, in addition to those with access. */
const waitingStatuses: ReadonlySet<string> = new Set(['pending', 'suspended'])

export async function readOverview(
  pages: PurchaseViewParts,
  portal: Portal,
  now: Date,
): Promise<Overview> {
  const { caller, customer } = portal
  const filter = { customerRef: customer.reference }
  const shown = (await shownPurchasesOf(pages, caller, filter)).filter(
    ({ purchase }) => purchase.planSnapshot !== null,
  )
  const isCurrent = ({ purchase }: ShownPurchase): boolean =>
    (hasStatusWithAccess(purchase) && !isLapsed(purchase, now)) ||
    waitingStatuses.has(purchase.status)
  const current = shown.filter(isCurrent).sort(plansFirst)
  const past = shown.filter((each) => !isCurrent(each))
  const taking = current.map(({ purchase }) => purchase).filter((each) => takesPacks(each, now))
  const withPacks = await productsWithPacks(
    pages,
    portal,
    taking.map(({ productRef }) => productRef),
  )
  return {
    current,
    past,
    offered: await readOfferedProducts(pages, portal, {
      // A pack alone gives no access, so its customer still needs a plan.
      current: new Set(
        current.flatMap(({ purchase }) => (purchase.isPack ? [] : [purchase.productRef])),
      ),
      last: past[0]?.purchase.productRef,
    }),
    unpaid: await readUnpaid(pages, portal),
    suspensions: await readSuspensionReasons(
      pages,
      portal,
      current.map(({ purchase }) => purchase),
    ),
    packs: current.some(({ purchase }) => purchase.isPack)
      ? await readPackUnits(pages, caller, customer.reference)
      : new Map(),
    offering: new Set(
      taking.flatMap(({ reference, productRef }) => (withPacks.has(productRef) ? [reference] : [])),
    ),
  }
}

/** Packs come after the plans that they add to. */
function plansFirst(one: ShownPurchase, other: ShownPurchase): number {
  return Number(one.purchase.isPack) - Number(other.purchase.isPack)
}

type OverviewPageProps = {
  readonly portal: Portal
  readonly overview: Overview
  readonly now: Date
  readonly notice: Notice | undefined
}

export function OverviewPage({ portal, overview, now, notice }: OverviewPageProps): ReactElement {
  const { current, past, offered, unpaid, suspensions, packs, offering } = overview
  const { t } = portal.frame
  const title = t('portal:yourPlans')
  return (
    <PortalPage portal={portal} section="plans" title={title} notice={notice}>
      <h1>{title}</h1>
      <UnpaidInvoices portal={portal} invoices={unpaid} />
      {offered.map((product) => (
        <ProductOffer key={product.reference} portal={portal} product={product} />
      ))}
      {current.length === 0 && offered.length === 0 && <NothingOffered portal={portal} />}
      <section className="cards" aria-label={t('portal:currentPlans')}>
        {current.map((shown) => (
          <PurchaseCard
            key={shown.purchase.reference}
            portal={portal}
            shown={shown}
            suspension={suspensions.get(shown.purchase.reference)}
            pack={packs.get(shown.purchase.reference)}
            isOffering={offering.has(shown.purchase.reference)}
            now={now}
          />
        ))}
      </section>
      {past.length > 0 && <PastPlans portal={portal} past={past} now={now} />}
    </PortalPage>
  )
}

function ProductOffer(props: {
  readonly portal: Portal
  readonly product: OfferedProduct
}): ReactElement {
  const { portal, product } = props
  const { t } = portal.frame
  const { name } = product
  return (
    <section className="card call" aria-label={t('portal:plansOf', { product: name })}>
      <h2>{t('portal:choosePlanFor', { product: name })}</h2>
      <p className="quiet">{product.description ?? t('portal:planNeeded')}</p>
      <PostForm page={portal} path={`/products/${encodeURIComponent(product.reference)}/plans`}>
        <button className="button main" type="submit">
          {t('portal:seePlans')}
        </button>
      </PostForm>
    </section>
  )
}

/** Shown if there is no plan to choose. It repeats the support address, because few customers look for it in the footer. */
function NothingOffered({ portal }: { readonly portal: Portal }): ReactElement {
  const { merchant, t } = portal.frame
  const name = merchant?.name ?? t('portal:yourProvider')
  const address = merchant?.supportEmail ?? null
  return (
    <section className="card" aria-label={t('portal:noPlan')}>
      <p>{t('portal:noPlanText')}</p>
      <p className="quiet">
        {address === null
          ? t('portal:providerCanHelp', { name })
          : t.rich('portal:providerCanHelpWrite', {
              name,
              address: <a href={`mailto:${address}`}>{address}</a>,
            })}
      </p>
    </section>
  )
}

type PastPlansProps = Pick<OverviewPageProps, 'portal' | 'now'> & {
  readonly past: readonly ShownPurchase[]
}

function PastPlans({ portal, past, now }: PastPlansProps): ReactElement {
  const { formats, t } = portal.frame
  return (
    <section>
      <h2>{t('portal:earlierPlans')}</h2>
      <div className="card scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{t('portal:plan')}</th>
              <th scope="col">{t('portal:state')}</th>
            </tr>
          </thead>
          <tbody>
            {past.map(({ purchase }) => {
              const { label, date } = purchaseTexts(purchase, now, t)
              return (
                <tr key={purchase.reference}>
                  <td>
                    <a href={purchasePath(portal, purchase.reference)}>{purchase.productName}</a>
                    <div className="quiet">{purchase.planSnapshot?.name}</div>
                  </td>
                  <td>
                    {label}
                    <div className="quiet">
                      <span className="whole">{formats.date(purchase.startDate)}</span>
                      {' – '}
                      {date !== undefined && <span className="whole">{formats.date(date.on)}</span>}
                    </div>
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </section>
  )
}
