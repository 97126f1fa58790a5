import type { ReactElement } from 'react'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { planFacts } from '../checkout/plan-facts.ts'
import { planPrice } from '../checkout/plan-price.ts'
import { PostForm } from '../post-form.tsx'
import type { OfferedPacks } from './offered-packs.ts'
import { PortalPage } from './portal-page.tsx'
import type { Portal } from './portal.ts'
import { purchasePath } from './purchase-card.tsx'

type PacksPageProps = {
  readonly portal: Portal
  /** The purchase beside which a pack is bought. */
  readonly purchase: Purchase
  readonly offered: OfferedPacks
}

/** Shows the packs that the customer can buy beside a running plan. */
export function PacksPage({ portal, purchase, offered }: PacksPageProps): ReactElement {
  const { frame } = portal
  const { t } = frame
  const title = t('portal:packsOf', { product: offered.product.name })
  return (
    <PortalPage portal={portal} section="plans" title={title}>
      <p>
        <a href={purchasePath(portal, purchase.reference)}>
          {t('portal:backTo', { product: offered.product.name })}
        </a>
      </p>
      <h1>{title}</h1>
      <p className="quiet">{t('portal:packsText')}</p>
      <div className="plan-grid">
        {offered.packs.map(({ plan, isSoldOut }) => (
          <article key={plan.reference} className="card" aria-label={plan.name}>
            <div className="row spread">
              <h2>{plan.name}</h2>
              {isSoldOut && <span className="badge quiet">{t('checkout:soldOut')}</span>}
            </div>
            <p className="price">{planPrice(plan, plan.currency, frame)}</p>
            {plan.description !== null && <p className="quiet">{plan.description}</p>}
            <ul>
              {planFacts(plan, { currency: plan.currency, isTriable: false }, frame).map((fact) => (
                <li key={fact}>{fact}</li>
              ))}
            </ul>
            {!isSoldOut && (
              <PostForm
                page={portal}
                path={`/purchases/${encodeURIComponent(purchase.reference)}/packs`}
              >
                <input type="hidden" name="plan" value={plan.reference} />
                <div className="actions">
                  <button
                    className="button main broad"
                    type="submit"
                    aria-label={t('portal:buyPackNamed', { pack: plan.name })}
                  >
                    {t('portal:buyPack')}
                  </button>
                </div>
              </PostForm>
            )}
          </article>
        ))}
      </div>
    </PortalPage>
  )
}
