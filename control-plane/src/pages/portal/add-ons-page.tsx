import type { ReactElement } from 'react'
import type { AddOn } from '@tollgate/domain/catalog/add-on'
import type { AddOnPreview } from '@tollgate/domain/previews/preview-add-on'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { addOnQuantityMax } from '@tollgate/schemas/limits'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import type { OfferedAddOn } from './offered-add-ons.ts'
import { PortalPage } from './portal-page.tsx'
import type { Portal } from './portal.ts'
import { purchasePath } from './purchase-card.tsx'

type AddOnsPageProps = {
  readonly portal: Portal
  readonly purchase: Purchase
  readonly offered: readonly OfferedAddOn[]
  readonly notice: Notice | undefined
}

/** Shows the add-ons of a purchase and those that the customer can attach. Each form leads to a page that shows what the change costs. */
export function AddOnsPage({ portal, purchase, offered, notice }: AddOnsPageProps): ReactElement {
  const { t } = portal.frame
  const title = t('portal:addOnsOf', { product: purchase.productName })
  return (
    <PortalPage portal={portal} section="plans" title={title} notice={notice}>
      <p>
        <a href={purchasePath(portal, purchase.reference)}>
          {t('portal:backTo', { product: purchase.productName })}
        </a>
      </p>
      <h1>{title}</h1>
      <div className="plan-grid">
        {offered.map((each) => (
          <AddOnCard
            key={each.addOn.reference}
            portal={portal}
            purchase={purchase}
            offered={each}
          />
        ))}
      </div>
    </PortalPage>
  )
}

function AddOnCard(props: {
  readonly portal: Portal
  readonly purchase: Purchase
  readonly offered: OfferedAddOn
}): ReactElement {
  const { portal, purchase, offered } = props
  const { addOn, quantity, quantityAhead } = offered
  const { t, formats } = portal.frame
  const price = formats.money(BigInt(addOn.priceMinor), addOn.currency)
  const fee = formats.money(BigInt(addOn.setupFeeMinor), addOn.currency)
  const id = `quantity-${addOn.reference}`
  return (
    <article className="card" aria-label={addOn.name}>
      <h2>{addOn.name}</h2>
      <p className="price">{t('portal:addOnPrice', { price })}</p>
      {addOn.setupFeeMinor > 0 && quantity === 0 && <p>{t('portal:addOnFee', { fee })}</p>}
      {addOn.description !== null && <p className="quiet">{addOn.description}</p>}
      {quantity > 0 && <p>{t('portal:addOnHas', { quantity: formats.count(quantity) })}</p>}
      {quantityAhead !== quantity && (
        <p>{t('portal:addOnAhead', { quantity: formats.count(quantityAhead) })}</p>
      )}
      <form method="get" action={`${purchasePath(portal, purchase.reference)}/add-ons/review`}>
        <input type="hidden" name="addOn" value={addOn.reference} />
        <label htmlFor={id}>{t('portal:addOnQuantity')}</label>
        <input
          id={id}
          name="quantity"
          type="number"
          min={0}
          max={addOn.quantityMax ?? addOnQuantityMax}
          defaultValue={quantityAhead === 0 ? 1 : quantityAhead}
          required
        />
        <div className="actions">
          <button className="button main" type="submit" name="when" value="now">
            {t('portal:addOnNow')}
          </button>
          <button className="button" type="submit" name="when" value="renewal">
            {t('portal:addOnAtRenewal')}
          </button>
        </div>
      </form>
    </article>
  )
}

type ReviewPageProps = {
  readonly portal: Portal
  readonly purchase: Purchase
  readonly addOn: AddOn
  readonly quantity: number
  readonly preview: Extract<AddOnPreview, { kind: 'changes' }>
  /** Whether the customer has to save a card before, because the change is charged to it. */
  readonly needsCard: boolean
}

/** Shows what a change of an add-on costs before the customer makes it. */
export function AddOnReviewPage(props: ReviewPageProps): ReactElement {
  const { portal, purchase, addOn, quantity, preview, needsCard } = props
  const { t, formats } = portal.frame
  const path = `/purchases/${encodeURIComponent(purchase.reference)}/add-ons`
  const title = t('portal:addOnReview', { quantity: formats.count(quantity), addOn: addOn.name })
  const next = formats.money(preview.nextMinor, purchase.currency)
  return (
    <PortalPage portal={portal} section="plans" title={title}>
      <div className="card narrow">
        <h1>{title}</h1>
        <ul>
          <li>{todayText(props)}</li>
          <li>{t('portal:addOnNext', { amount: next })}</li>
        </ul>
        {needsCard ? (
          <>
            <p>{t('portal:addOnNeedsCard')}</p>
            <a className="button main" href={`${portal.path}/billing`}>
              {t('portal:addOnSaveCard')}
            </a>
          </>
        ) : (
          <PostForm page={portal} path={path}>
            <input type="hidden" name="addOn" value={addOn.reference} />
            <input type="hidden" name="quantity" value={quantity} />
            <input type="hidden" name="when" value={preview.when} />
            <div className="actions">
              <button className="button main" type="submit">
                {t('portal:addOnConfirm')}
              </button>
              <a className="button" href={`${portal.path}${path}`}>
                {t('portal:addOnBack')}
              </a>
            </div>
          </PostForm>
        )}
      </div>
    </PortalPage>
  )
}

function todayText({ portal, purchase, preview }: ReviewPageProps): string {
  const { t, formats } = portal.frame
  const { invoice, when, effectiveAt } = preview
  if (when === 'renewal') return t('portal:addOnFrom', { date: formats.date(effectiveAt) })
  const money = (amountMinor: bigint) => formats.money(amountMinor, purchase.currency)
  if (invoice === undefined || invoice.totalMinor === 0n) return t('portal:addOnFreeToday')
  if (invoice.dueMinor > 0n) return t('portal:addOnToday', { amount: money(invoice.dueMinor) })
  return invoice.totalMinor < 0n
    ? t('portal:addOnCredit', { amount: money(-invoice.totalMinor) })
    : t('portal:addOnCarried', { amount: money(invoice.totalMinor) })
}
