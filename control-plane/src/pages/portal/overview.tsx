import type { ReactElement } from 'react'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { isOffered } from '@tollgate/domain/plans/plan-offer'
import { listPlans } from '@tollgate/domain/plans/repository'
import { findProduct } from '@tollgate/domain/products/repository'
import { isLapsed, isOpen } from '@tollgate/domain/purchases/access'
import { read } from '../../http/read.ts'
import { shownPurchasesOf, type ShownPurchase } from '../../purchases/present-purchases.ts'
import type { PageParts } from '../frame.ts'
import { purchaseWords } from '../purchase-words.ts'
import { PostForm } from '../post-form.tsx'
import { PurchaseCard, purchasePath } from './purchase-card.tsx'
import type { Portal } from './portal.ts'
import type { Notice } from '../notice.tsx'
import { PortalPage } from './portal-page.tsx'
import { readUnpaid, UnpaidInvoices } from './unpaid-invoices.tsx'

/** A product that the customer has no plan of: the one that the portal was opened for, or that of the last plan. */
type OfferedProduct = { readonly reference: string; readonly name: string }

type Overview = {
  readonly current: readonly ShownPurchase[]
  readonly past: readonly ShownPurchase[]
  readonly offered: OfferedProduct | undefined
  readonly unpaid: readonly Invoice[]
}

/** States in which there is something to do or to wait for, beside those with access. */
const unsettled: ReadonlySet<string> = new Set(['pending', 'suspended'])

export async function readOverview(pages: PageParts, portal: Portal, now: Date): Promise<Overview> {
  const { caller, customer } = portal
  const filter = { customerRef: customer.reference }
  const shown = (await shownPurchasesOf(pages, caller, filter)).filter(
    ({ purchase }) => purchase.planSnapshot !== null,
  )
  const isCurrent = ({ purchase }: ShownPurchase): boolean =>
    (isOpen(purchase) && !isLapsed(purchase, now)) || unsettled.has(purchase.status)
  const current = shown.filter(isCurrent)
  const past = shown.filter((each) => !isCurrent(each))
  return {
    current,
    past,
    offered: await offeredProduct(pages, portal, current, past),
    unpaid: await readUnpaid(pages, portal),
  }
}

async function offeredProduct(
  pages: PageParts,
  { caller, session }: Portal,
  current: readonly ShownPurchase[],
  past: readonly ShownPurchase[],
): Promise<OfferedProduct | undefined> {
  const last = current.length === 0 ? past[0]?.purchase.productRef : undefined
  const productRef = session.productRef ?? last
  if (productRef === undefined) return undefined
  if (current.some(({ purchase }) => purchase.productRef === productRef)) return undefined
  return read(pages, caller, async (sql) => {
    const product = await findProduct(sql, caller.providerId, productRef)
    if (product?.status !== 'active') return undefined
    const plans = await listPlans(sql, caller.providerId, [productRef])
    return plans.some(isOffered) ? { reference: productRef, name: product.name } : undefined
  })
}

type OverviewPageProps = {
  readonly portal: Portal
  readonly overview: Overview
  readonly now: Date
  readonly notice: Notice | undefined
}

export function OverviewPage({ portal, overview, now, notice }: OverviewPageProps): ReactElement {
  const { current, past, offered, unpaid } = overview
  return (
    <PortalPage portal={portal} section="plans" title="Your plans" notice={notice}>
      <h1>Your plans</h1>
      <UnpaidInvoices portal={portal} invoices={unpaid} />
      {offered !== undefined && <Offer portal={portal} product={offered} />}
      {current.length === 0 && offered === undefined && (
        <p className="card quiet">You have no plan at the moment.</p>
      )}
      <section className="cards" aria-label="Current plans">
        {current.map((shown) => (
          <PurchaseCard key={shown.purchase.reference} portal={portal} shown={shown} now={now} />
        ))}
      </section>
      {past.length > 0 && <PastPlans portal={portal} past={past} now={now} />}
    </PortalPage>
  )
}

function Offer(props: { readonly portal: Portal; readonly product: OfferedProduct }): ReactElement {
  const { portal, product } = props
  return (
    <section className="card call" aria-label={`Plans of ${product.name}`}>
      <h2>{`Choose a plan for ${product.name}`}</h2>
      <p>You need one before you can use it.</p>
      <PostForm page={portal} path={`/products/${encodeURIComponent(product.reference)}/plans`}>
        <button className="button main" type="submit">
          See the plans
        </button>
      </PostForm>
    </section>
  )
}

type PastPlansProps = Pick<OverviewPageProps, 'portal' | 'now'> & {
  readonly past: readonly ShownPurchase[]
}

function PastPlans({ portal, past, now }: PastPlansProps): ReactElement {
  const { formats } = portal.frame
  return (
    <section>
      <h2>Earlier plans</h2>
      <div className="card scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Product</th>
              <th scope="col">Plan</th>
              <th scope="col">From</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {past.map(({ purchase }) => {
              const { label, date } = purchaseWords(purchase, now)
              return (
                <tr key={purchase.reference}>
                  <td>
                    <a href={purchasePath(portal, purchase.reference)}>{purchase.productName}</a>
                  </td>
                  <td>{purchase.planSnapshot?.name}</td>
                  <td>{formats.date(purchase.startDate)}</td>
                  <td>{date === undefined ? label : `${label} ${formats.date(date.on)}`}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </section>
  )
}
