import type { ReactElement } from 'react'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { isLapsed, isOpen } from '@tollgate/domain/purchases/access'
import { shownPurchasesOf, type ShownPurchase } from '../../purchases/present-purchases.ts'
import type { PageParts } from '../frame.ts'
import { purchaseWords } from '../purchase-words.ts'
import { PostForm } from '../post-form.tsx'
import { readOfferedProducts, type OfferedProduct } from './offered-products.ts'
import { PurchaseCard, purchasePath } from './purchase-card.tsx'
import type { Portal } from './portal.ts'
import type { Notice } from '../notice.tsx'
import { PortalPage } from './portal-page.tsx'
import { readPauses, type Pause } from './read-pauses.ts'
import { readUnpaid, UnpaidInvoices } from './unpaid-invoices.tsx'

type Overview = {
  readonly current: readonly ShownPurchase[]
  readonly past: readonly ShownPurchase[]
  readonly offered: readonly OfferedProduct[]
  readonly unpaid: readonly Invoice[]
  readonly pauses: ReadonlyMap<string, Pause>
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
    offered: await readOfferedProducts(pages, portal, {
      current: new Set(current.map(({ purchase }) => purchase.productRef)),
      last: past[0]?.purchase.productRef,
    }),
    unpaid: await readUnpaid(pages, portal),
    pauses: await readPauses(
      pages,
      portal,
      current.map(({ purchase }) => purchase),
    ),
  }
}

type OverviewPageProps = {
  readonly portal: Portal
  readonly overview: Overview
  readonly now: Date
  readonly notice: Notice | undefined
}

export function OverviewPage({ portal, overview, now, notice }: OverviewPageProps): ReactElement {
  const { current, past, offered, unpaid, pauses } = overview
  return (
    <PortalPage portal={portal} section="plans" title="Your plans" notice={notice}>
      <h1>Your plans</h1>
      <UnpaidInvoices portal={portal} invoices={unpaid} />
      {offered.map((product) => (
        <Offer key={product.reference} portal={portal} product={product} />
      ))}
      {current.length === 0 && offered.length === 0 && <NothingOffered portal={portal} />}
      <section className="cards" aria-label="Current plans">
        {current.map((shown) => (
          <PurchaseCard
            key={shown.purchase.reference}
            portal={portal}
            shown={shown}
            pause={pauses.get(shown.purchase.reference)}
            now={now}
          />
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
      <p className="quiet">{product.description ?? 'You need one before you can use it.'}</p>
      <PostForm page={portal} path={`/products/${encodeURIComponent(product.reference)}/plans`}>
        <button className="button main" type="submit">
          See the plans
        </button>
      </PostForm>
    </section>
  )
}

/** Who could help is in the footer too, where few look for it. */
function NothingOffered({ portal }: { readonly portal: Portal }): ReactElement {
  const { merchant } = portal.frame
  return (
    <section className="card" aria-label="No plan">
      <p>You have no plan at the moment, and there is none to choose here.</p>
      <p className="quiet">
        {`${merchant?.name ?? 'Your provider'} can set one up for you.`}
        {merchant?.supportEmail && (
          <>
            {' Write to '}
            <a href={`mailto:${merchant.supportEmail}`}>{merchant.supportEmail}</a>.
          </>
        )}
      </p>
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
              <th scope="col">Plan</th>
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
