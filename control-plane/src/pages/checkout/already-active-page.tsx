import type { ReactElement } from 'react'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { AccountAccess } from './account-routes.ts'
import type { Checkout } from './checkout.ts'
import { ResultCard } from './result-card.tsx'
import { chargeText, type NextCharge } from './next-charge.ts'

type AlreadyActiveProps = {
  readonly checkout: Checkout
  readonly purchase: Purchase
  readonly next: NextCharge | undefined
  readonly account: AccountAccess | undefined
}

/** The page for a customer who already has the plan of the checkout. */
export function AlreadyActivePage({
  checkout,
  purchase,
  next,
  account,
}: AlreadyActiveProps): ReactElement {
  const { t } = checkout.frame
  const { planSnapshot: plan, productName } = purchase
  return (
    <ResultCard
      checkout={checkout}
      title={t('checkout:alreadyActive')}
      account={account}
      rows={[
        { label: t('checkout:product'), value: productName },
        { label: t('checkout:plan'), value: plan?.name ?? '' },
        ...(next === undefined
          ? []
          : [{ label: t('checkout:nextCharge'), value: chargeText(next, checkout.frame) }]),
      ]}
    />
  )
}
